"""What tailback.py reads from a store equals what the program prints of it."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ['TB_SOURCE'], 'analyze', 'python'))
program = os.environ['TAILBACK']
import tailback  # noqa: E402


def run(*words):
    return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run('synth', 'uniform', '--nodes', '16', '--message', '64K', '--messages', '4', '-o', 'a.goal')
    for network in ('ib-hdr,arity=4,levels=2', 'qsnet,arity=4,levels=2'):
        run('replay', 'a.goal', '-n', network, '-q', '-o', 'run.db')
    with tailback.Store('run.db') as store:
        assert list(store.runs().network) == ['ib-hdr', 'qsnet']
        for number in store.runs().index:
            links = store.links(number)
            listed = list(csv.DictReader(io.StringIO(
                run('report', 'run.db', '--run', str(number), '-f', 'csv', '--top', '0'))))
            hot = store.table('hot_links', number)
            assert len(hot) == len(listed) > 0
            assert list(hot.link) == [row['name'] for row in listed]
            leads = store.runs().leads[number]
            wait = links['wait_for_ps' if leads == 'for' else 'came_by_ps'] * 1e-12
            assert abs(store.waits(number).to_numpy().sum() - wait.sum()) < 1e-15 + 1e-9 * wait.sum() > 0
            shown = json.loads(run('matrix', 'run.db', '--run', str(number), '-f', 'json'))
            levels = store.matrix(number)
            assert len(levels) == 2 and levels[0].level == 1
            for level in levels:
                assert level.below.shape == (4, 4), level.below.shape
            for level in levels:
                for side, numbers in (('below', level.below), ('above', level.above)):
                    drawn = [cell['value'] * 1e-12 for cell in shown['cells']
                             if cell['level'] == level.level and cell['direction'] == side]
                    assert len(drawn) == numbers.size
                    assert abs(sum(drawn) - numbers.sum()) <= 1e-9 * len(drawn), (number, side)
            assert sum(level.whole().sum() for level in levels) > 0
        for wrong in (lambda: store.table('none'), lambda: store.links(9)):
            try:
                wrong()
                raise SystemExit('a wrong name is taken')
            except KeyError:
                pass
    notebook = json.load(open(os.path.join(os.environ['TB_SOURCE'], 'docs', 'matrix.ipynb')))
    try:
        import matplotlib
    except ImportError as missing:
        print(f'the notebook is skipped: {missing}')
        sys.exit(0)
    matplotlib.use('Agg')
    names = {}
    for cell in notebook['cells']:
        if cell['cell_type'] == 'code':
            exec(''.join(cell['source']), names)
    assert names['figure'].axes, 'the notebook draws nothing'
    names['figure'].savefig(os.environ.get('TB_PICTURE', 'matrix.png'))
