// Sorts a table by the column whose title is pressed; a second press reverses the order.
document.querySelectorAll("th button").forEach(function (button) {
  button.addEventListener("click", function () {
    var title = button.parentNode, row = title.parentNode;
    var body = row.parentNode.parentNode.tBodies[0];
    var column = Array.prototype.indexOf.call(row.cells, title);
    var number = title.classList.contains("num");
    var down = title.getAttribute("aria-sort") ? title.getAttribute("aria-sort") === "ascending" : number;
    var sign = down ? -1 : 1;
    var rows = Array.prototype.slice.call(body.rows);
    rows.sort(function (one, other) {
      var a = one.cells[column], b = other.cells[column];
      if (number) return sign * (a.dataset.v - b.dataset.v);
      return sign * a.textContent.localeCompare(b.textContent, undefined, {numeric: true});
    });
    Array.prototype.forEach.call(row.cells, function (cell) { cell.removeAttribute("aria-sort"); });
    title.setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.forEach(function (one) { body.appendChild(one); });
  });
});
