// SPDX-License-Identifier: Apache-2.0
// Parts of the panel: sections with sliders, choices, switches and small graphs. Each calls back with its value, and can
// be set from elsewhere (a key) so that what is shown and what holds are the same.

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export class Panel {
  constructor(root) {
    this.root = root;
  }

  section(title) {
    const section = element('section', {}, element('h2', { textContent: title }));
    this.root.append(section);
    return new Section(section);
  }
}

class Section {
  constructor(root) {
    this.root = root;
  }

  /** `format` shows the value; `change` is called while the thumb moves. */
  slider(label, { min, max, step, value, title = '', format = (x) => x.toFixed(2) }, change) {
    const input = element('input', { type: 'range', min, max, step, title });
    input.setAttribute('aria-label', title || label);
    const shown = element('output');
    const show = () => (shown.textContent = format(Number(input.value)));
    input.addEventListener('input', () => {
      show();
      change(Number(input.value));
    });
    input.value = value;
    show();
    this.root.append(element('div', { className: 'row', title }, element('span', { textContent: label }), input, shown));
    return {
      set(next) {
        input.value = next;
        show();
      },
    };
  }

  /** One of several: `choices` are pairs of a value and its name. */
  choice(name, choices, value, change) {
    const box = element('div', { className: 'segments' });
    box.setAttribute('role', 'radiogroup');
    box.setAttribute('aria-label', name);
    const inputs = new Map();
    for (const [key, text, title] of choices) {
      const input = element('input', { type: 'radio', name, value: key, checked: key === value, title: title ?? text });
      input.addEventListener('change', () => change(key));
      inputs.set(key, input);
      box.append(element('label', {}, input, element('span', { textContent: text })));
    }
    this.root.append(box);
    return {
      set(key) {
        inputs.get(key).checked = true;
        change(key);
      },
      disable: (key, title) => Object.assign(inputs.get(key), { disabled: true, title }),
    };
  }

  /** One of many, in a list: `choices` are pairs of a value and its name. */
  select(label, title, choices, value, change) {
    const list = element('select', { title });
    list.setAttribute('aria-label', title || label);
    list.append(...choices.map(([key, text]) => new Option(text, key)));
    list.value = value;
    list.addEventListener('change', () => change(list.value));
    this.root.append(element('div', { className: 'row pick', title }, element('span', { textContent: label }), list));
    return {
      get value() {
        return list.value;
      },
      set(key) {
        list.value = key;
        change(key);
      },
    };
  }

  /** What the colours mean: a bar with a text at either end, or names with a colour each (linear light). */
  legend(gradient) {
    const bar = element('div', { className: 'bar' }), low = element('span'), high = element('span');
    bar.style.background = gradient;
    const ends = element('div', { className: 'ends' }, low, high), names = element('div', { className: 'names' });
    const box = element('div', { className: 'legend', hidden: true }, bar, ends, names);
    this.root.append(box);
    const screen = (x) => Math.round(255 * Math.max(0, x) ** (1 / 2.2));
    return {
      set(legend) {
        box.hidden = !legend;
        bar.hidden = ends.hidden = Boolean(legend?.names);
        low.textContent = legend?.low ?? '';
        high.textContent = legend?.high ?? '';
        names.replaceChildren(...(legend?.names ?? []).map(([text, colour]) => {
          const item = element('span', { textContent: text });
          item.style.setProperty('--kind', `rgb(${colour.map(screen).join(' ')})`);
          return item;
        }));
      },
    };
  }

  checks() {
    const box = element('div', { className: 'checks' });
    this.root.append(box);
    return {
      add(text, title, value, change) {
        const input = element('input', { type: 'checkbox', checked: value, title });
        input.addEventListener('change', () => change(input.checked));
        box.append(element('label', { title }, input, text));
        return {
          toggle() {
            input.checked = !input.checked;
            change(input.checked);
          },
        };
      },
    };
  }

  buttons(...pairs) {
    const box = element('div', { className: 'buttons' });
    for (const [text, title, press] of pairs) {
      const button = element('button', { type: 'button', className: 'plain', textContent: text, title });
      button.addEventListener('click', press);
      box.append(button);
    }
    this.root.append(box);
    return box;
  }

  /** Rows of a name and a number; set([…]) with as many texts. */
  table(names) {
    const cells = names.map(() => element('td'));
    this.root.append(element('table', {}, ...names.map((name, k) => element('tr', {}, element('td', { textContent: name }), cells[k]))));
    return { set: (texts) => texts.forEach((text, k) => (cells[k].textContent = text)) };
  }

  note() {
    const note = element('p', { className: 'note' });
    this.root.append(note);
    return note;
  }

  code() {
    const code = element('pre', { className: 'code', hidden: true });
    this.root.append(code);
    return code;
  }

  /** Curves of the last `seconds`, each with a colour of the style sheet. */
  graph(label, colours, names, seconds = 6) {
    const canvas = element('canvas', { className: 'graph' });
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', label);
    const legend = element('p', { className: 'note curves' }, ...names.map((name, k) => {
      const item = element('span', { textContent: name });
      item.style.setProperty('--curve', `var(${colours[k]})`);
      return item;
    }));
    this.root.append(canvas, legend);
    return new Graph(canvas, colours, seconds);
  }
}

class Graph {
  constructor(canvas, colours, seconds) {
    this.canvas = canvas;
    this.colours = colours;
    this.seconds = seconds;
    this.samples = [];
  }

  add(time, values) {
    this.samples.push([time, ...values]);
    while (this.samples.length && this.samples[0][0] < time - this.seconds) this.samples.shift();
  }

  draw() {
    const { canvas } = this;
    if (canvas.offsetParent === null || this.samples.length < 2) return;
    const width = canvas.clientWidth * devicePixelRatio, height = canvas.clientHeight * devicePixelRatio;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext('2d');
    context.clearRect(0, 0, width, height);
    const last = this.samples.at(-1)[0];
    const most = Math.max(1e-12, ...this.samples.map((sample) => Math.max(...sample.slice(1))));
    const style = getComputedStyle(document.documentElement);
    context.lineWidth = 1.5 * devicePixelRatio;
    this.colours.forEach((colour, k) => {
      context.strokeStyle = style.getPropertyValue(colour);
      context.beginPath();
      for (const sample of this.samples)
        context.lineTo(width * (1 - (last - sample[0]) / this.seconds), height * (0.96 - (0.9 * sample[k + 1]) / most));
      context.stroke();
    });
  }
}
