// SPDX-License-Identifier: Apache-2.0
// Plots of the page's tables, and tables that sort by a click. All numbers are read from the tables' own cells.
'use strict';
(() => {
  const series = ['ours', 'paper', 'peer', 'target'];
  const names = { ours: 'ours', paper: 'paper', peer: 'other program', target: 'target' };
  const columns = { ours: 2, paper: 4, peer: 6, target: 7 };

  const number = (cell) => (cell.textContent === '' ? null : Number(cell.textContent));

  function rowsOf(table) {
    return [...table.tBodies[0].rows].map((row) => {
      const entry = { row: row.cells[0].textContent, metric: row.cells[1].textContent, unit: row.cells[3].textContent };
      for (const name of series) entry[name] = number(row.cells[columns[name]]);
      return entry;
    });
  }

  function svg(tag, attributes, parent, text) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  // Horizontal bars. `bars`: {label, value, series, told}; on a logarithmic axis they begin at a power of ten.
  function drawBars(place, bars, logarithmic, tip) {
    place.replaceChildren();
    const left = 260, width = 960, thick = 16, gap = 4;
    const height = bars.length * (thick + gap) + 34;
    const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img' }, place);
    const values = bars.map((bar) => Math.abs(bar.value)).filter((value) => value > 0);
    const most = Math.max(...values, 0), least = Math.min(...values, Infinity);
    if (!(most > 0)) { svg('text', { x: 0, y: 16 }, picture, 'All values are 0.'); return; }
    const low = logarithmic ? Math.floor(Math.log10(least) - 1e-9) : 0;
    const high = logarithmic ? Math.max(low + 1, Math.ceil(Math.log10(most))) : most;
    const x = (value) => {
      const at = logarithmic ? (value > 0 ? Math.log10(value) : low) : value;
      return left + (width - left - 90) * Math.max(0, (at - low) / (high - low));
    };
    const ticks = logarithmic
      ? Array.from({ length: high - low + 1 }, (_, k) => 10 ** (low + k))
      : [0, .25, .5, .75, 1].map((part) => part * most);
    const every = Math.ceil(ticks.length / 12);
    ticks.forEach((tick, k) => {
      svg('line', { class: 'axis', x1: x(tick), x2: x(tick), y1: 0, y2: height - 22 }, picture);
      if (k % every === 0) svg('text', { x: x(tick), y: height - 6, 'text-anchor': 'middle' }, picture, Number(tick.toPrecision(3)));
    });
    bars.forEach((bar, k) => {
      const y = k * (thick + gap);
      const group = svg('g', { class: 'bar', tabindex: 0 }, picture);
      svg('title', {}, group, bar.told);
      svg('text', { x: left - 8, y: y + 12, 'text-anchor': 'end' }, group, bar.label);
      svg('rect', { class: `series-${bar.series}`, x: left, y, width: Math.max(1, x(Math.abs(bar.value)) - left), height: thick }, group);
      svg('text', { x: x(Math.abs(bar.value)) + 4, y: y + 12 }, group, Number(bar.value.toPrecision(4)));
      const tell = () => { tip.textContent = bar.told; };
      group.addEventListener('mouseenter', tell);
      group.addEventListener('focus', tell);
    });
  }

  // One plot over a table: its metric is chosen, its axis may be logarithmic.
  function addPlot(table) {
    const rows = rowsOf(table);
    const metrics = [...new Set(rows.filter((row) => row.ours !== null).map((row) => row.metric))];
    if (metrics.length === 0) return;
    const box = document.createElement('div');
    box.className = 'plot';
    const choice = document.createElement('select');
    choice.setAttribute('aria-label', 'metric');
    for (const metric of metrics) choice.append(new Option(metric, metric));
    const compared = rows.find((row) => row.ours !== null && row.paper !== null);
    if (compared) choice.value = compared.metric;
    const label = document.createElement('label'), log = document.createElement('input');
    log.type = 'checkbox';
    label.append(log, ' logarithmic');
    const drawing = document.createElement('div'), tip = document.createElement('div');
    tip.className = 'tip';
    tip.setAttribute('aria-live', 'polite');
    box.append(choice, label, drawing, tip);
    table.before(box);
    const draw = () => {
      const bars = [];
      for (const row of rows.filter((candidate) => candidate.metric === choice.value))
        for (const name of series)
          if (row[name] !== null)
            bars.push({ label: name === 'ours' ? row.row : names[name], value: row[name], series: name,
              told: `${row.row}, ${row.metric}, ${names[name]}: ${row[name]} ${row.unit}` });
      drawBars(drawing, bars, log.checked, tip);
    };
    const spread = () => {
      const values = rows.filter((row) => row.metric === choice.value).flatMap((row) => series.map((name) => row[name])).filter((value) => value > 0);
      log.checked = Math.max(...values) > 30 * Math.min(...values);
    };
    choice.addEventListener('change', () => { spread(); draw(); });
    log.addEventListener('change', draw);
    spread();
    draw();
  }

  function sortable(table) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.tabIndex = 0;
      const sort = () => {
        const falling = head.getAttribute('aria-sort') === 'ascending';
        for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
        const key = (row) => row.cells[column].textContent;
        const order = (a, b) => {
          const p = parseFloat(key(a)), q = parseFloat(key(b));
          if (Number.isNaN(p) !== Number.isNaN(q)) return Number.isNaN(p) ? 1 : -1;
          const by = Number.isNaN(p) ? key(a).localeCompare(key(b)) : p - q;
          return falling ? -by : by;
        };
        table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
      };
      head.addEventListener('click', sort);
      head.addEventListener('keydown', (event) => { if (event.key === 'Enter') sort(); });
    });
  }

  // The largest gains and losses over the papers' figures, of everything that costs time or memory.
  function overview() {
    const gains = [];
    for (const table of document.querySelectorAll('table.results'))
      for (const row of table.tBodies[0].rows) {
        const gain = parseFloat(row.cells[5].textContent);
        if (gain > 0) gains.push({ label: `${row.cells[0].textContent} ${row.cells[1].textContent}`, value: gain, series: gain >= 1 ? 'ours' : 'paper',
          told: `${table.dataset.table}, ${row.cells[0].textContent}, ${row.cells[1].textContent}: published ${row.cells[4].textContent}, measured ${row.cells[2].textContent} ${row.cells[3].textContent}` });
      }
    const place = document.getElementById('overview-plot'), tip = document.createElement('div');
    tip.className = 'tip';
    if (gains.length === 0) { place.textContent = 'Nothing that the papers measured was measured here.'; return; }
    const drawing = document.createElement('div');
    place.append(drawing, tip);
    drawBars(drawing, gains.sort((a, b) => b.value - a.value), true, tip);
  }

  // A page of its own in a frame. It inherits this page's policy and has a stricter one itself.
  function playLive(figure) {
    const packed = figure.querySelector('script').textContent, frame = document.createElement('iframe');
    frame.title = figure.querySelector('figcaption').textContent;
    frame.srcdoc = new TextDecoder().decode(Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)));
    figure.querySelector('button').replaceWith(frame);
    frame.focus();
  }
  for (const figure of document.querySelectorAll('figure.live'))
    figure.querySelector('button').addEventListener('click', () => playLive(figure));

  for (const section of document.querySelectorAll('section[id]')) {
    const link = document.createElement('a');
    link.href = `#${section.id}`;
    link.textContent = section.querySelector('h2').textContent;
    document.getElementById('contents').append(link);
  }
  for (const table of document.querySelectorAll('table.results')) { addPlot(table); sortable(table); }
  overview();
})();
