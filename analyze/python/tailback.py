"""Tailback's stores as pandas tables and numpy arrays.

    import tailback
    with tailback.Store('run.db') as store:
        print(store.runs())
        hot = store.table('hot_links')     # any table or view of the store
        wait = store.matrix()              # switches of a level by port
        over_time = store.waits()          # links by time bin, in seconds

Needs Python 3.9, pandas and an SQLite of 3.38 or newer. A store is opened read-only; while a
replay writes it, a table shows what has been written. Times of views end in _us; those of
tables in _ps. What was not measured is NaN, never 0. A run is chosen by its number; the default
is the newest.
"""
import sqlite3
import urllib.parse
import pathlib

import numpy
import pandas

__all__ = ['Store', 'Level']


class Level:
    """A level of a congestion matrix.

    switches: names, in the order of the rows. below, above: wait in seconds, switches by port
    down and up; at_nodes: for links of hosts, where wait leads by 'for' (else of no columns).
    """

    def __init__(self, level, switches, below, above, at_nodes):
        self.level, self.switches = level, switches
        self.below, self.above, self.at_nodes = below, above, at_nodes

    def whole(self):
        """All ports of each switch in a row, those upwards first."""
        return numpy.hstack([self.above, self.below])


class Store:
    """A store of runs. Raises sqlite3.Error where a file is none, KeyError for a run that is not there."""

    def __init__(self, path):
        uri = 'file:' + urllib.parse.quote(str(pathlib.Path(path).absolute())) + '?mode=ro'
        self.connection = sqlite3.connect(uri, uri=True)
        self.connection.execute('SELECT run FROM run LIMIT 1')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.connection.close()

    def ask(self, question, parameters=()):
        """The answer to SQL as a table."""
        return pandas.read_sql_query(question, self.connection, params=parameters)

    def runs(self):
        """All runs, a row each: network, input, seed, times and counts."""
        return self.ask('SELECT * FROM run ORDER BY run').set_index('run')

    def newest(self):
        run, = self.connection.execute('SELECT max(run) FROM run').fetchone()
        if run is None:
            raise KeyError('the store has no run')
        return run

    def _run(self, run):
        run = self.newest() if run is None else int(run)
        if not self.connection.execute('SELECT 1 FROM run WHERE run = ?', (run,)).fetchone():
            raise KeyError(f'the store has no run {run}')
        return run

    def table(self, name, run=None):
        """The rows of a table or view that belong to a run: hot_links, flow_latency, job_summary,
        critical_path, blame, congestion_roots, switch_wait, ... as the schema lists them."""
        columns = [row[1] for row in self.connection.execute(f'PRAGMA table_info("{name}")')]
        if not columns:
            raise KeyError(f'the store has no table or view {name!r}')
        if 'run' not in columns:
            return self.ask(f'SELECT * FROM "{name}"')
        return self.ask(f'SELECT * FROM "{name}" WHERE run = ?', (self._run(run),)).drop(columns='run')

    def parameters(self, run=None):
        """The parameters of a run's network, by their keys in presets."""
        return self.table('run_parameter', run).set_index('key')['value']

    def links(self, run=None):
        """Every link with its ends, rate and sums over the run, also those that nothing crossed."""
        run = self._run(run)
        links = self.ask(
            'SELECT l.*, n.name AS name, s.came_by_ps, s.wait_for_ps, s.stall_ps, s.busy_ps, s.bytes, s.packets, '
            's.blocked, s.longest_wait_ps, s.largest_queue_bytes, s.link IS NULL AS idle FROM link AS l '
            'JOIN link_name AS n USING (run, link) LEFT JOIN (SELECT * FROM link_sum WHERE run = ?) AS s '
            'ON s.link = l.link WHERE l.run = ? ORDER BY l.link', (run, run))
        sums = ['came_by_ps', 'wait_for_ps', 'stall_ps', 'busy_ps', 'bytes', 'packets', 'blocked',
                'longest_wait_ps', 'largest_queue_bytes']
        links.loc[links.idle == 1, sums] = 0  # links of which nothing is known have a row, of nulls
        return links.drop(columns=['run', 'idle']).set_index('link')

    def waits(self, run=None, figure=None):
        """Links by time bin: a figure of link_bin, wait in seconds by default (the one that leads)."""
        run = self._run(run)
        leads, bin_ps = self.connection.execute('SELECT leads, bin_ps FROM run WHERE run = ?', (run,)).fetchone()
        figure = figure or ('wait_for_ps' if leads == 'for' else 'came_by_ps')
        rows = self.ask(f'SELECT link, bin, "{figure}" AS figure FROM link_bin WHERE run = ?', (run,))
        n_links, = self.connection.execute('SELECT n_links FROM run WHERE run = ?', (run,)).fetchone()
        array = numpy.zeros((n_links, int(rows.bin.max()) + 1 if len(rows) else 0))
        array[rows.link, rows.bin] = rows.figure.astype(float) * (1e-12 if figure.endswith('_ps') else 1)
        frame = pandas.DataFrame(array, index=pandas.RangeIndex(n_links, name='link'))
        frame.columns = pandas.Index(frame.columns * (bin_ps * 1e-12), name='time_s')
        return frame

    def matrix(self, run=None):
        """The congestion matrix: a Level for each level of switches, the top one first."""
        cells = self.table('congestion_matrix', run)
        levels = []
        for level, part in cells.groupby('level', sort=False):
            names = list(part.loc[part.side == 'switch', 'switch'])
            place = {name: i for i, name in enumerate(names)}
            sides = []
            for side in ('below', 'above', 'node'):
                of = part[part.side == side]
                ports = sorted(of.port.dropna().unique())
                array = numpy.full((len(names), len(ports)), numpy.nan)
                column = {port: i for i, port in enumerate(ports)}
                for row in of.itertuples():
                    array[place[row.switch], column[row.port]] = row.wait_us * 1e-6
                sides.append(array)
            levels.append(Level(level, names, *sides))
        return levels
