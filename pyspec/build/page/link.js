// The wire to Python: commands and answers as JSON, and what is new to see: changes of the state with
// frames of numbers, as bytes.
// It is the same over a WebSocket and over the channel of a notebook's widget.

const PADDING = 8;

export class Link {
  constructor() {
    this.state = {};
    this.frames = {};
    this.post = null;
    this.waiting = new Map();
    this.listeners = new Map();
    this.next = 1;
    this.isBusy = false; // a step of a drag is on its way
    this.pending = null; // the newest step that waits for it
    this.moves = []; // moves of the pointer that wait to be seen, {version, since}
    this.drawn = { version: 0, at: 0 }; // what is seen, and since when
    this.timings = []; // ms from a move of the pointer to the end of drawing, the newest last
  }

  // Calls `draw(link)` after a change of any of these keys; frames are keys such as "frame:map".
  on(keys, draw) {
    for (const key of keys) {
      if (!this.listeners.has(key)) this.listeners.set(key, new Set());
      this.listeners.get(key).add(draw);
    }
  }

  // Sends a command. The promise gives the answer, refused or not, and never fails.
  ask(command) {
    const id = this.next++;
    return new Promise((answer) => {
      if (!this.post) {
        answer({ id, ok: false, error: { message: "The connection to Python is lost." } });
        return;
      }
      this.waiting.set(id, answer);
      this.post({ id, ...command });
    }).then((answer) => {
      // What is wrong in a text that is being typed is shown at its line.
      if (!answer.ok && command.do !== "yaml") this.tell("refused", answer.error);
      return answer;
    });
  }

  // One step of a drag, with the time `since` of the pointer. Only the newest is sent while Python is
  // busy with the one before.
  async sendStep(command, since = 0) {
    if (this.isBusy) {
      this.pending = [command, since];
      return;
    }
    this.isBusy = true;
    const { version } = await this.ask(command);
    this.isBusy = false;
    if (since) this.moves.push({ version, since });
    this.timed();
    const next = this.pending;
    this.pending = null;
    if (next) this.sendStep(...next);
  }

  // Takes the time of the moves that are seen.
  timed() {
    const { version, at } = this.drawn;
    for (const move of this.moves) if (move.version <= version) this.timings.push(at - move.since);
    this.moves = this.moves.filter((move) => move.version > version);
    this.timings.splice(0, this.timings.length - 5000);
  }

  tell(key, value) {
    for (const draw of this.listeners.get(key) ?? []) draw(value ?? this);
  }

  isOpen(post) {
    this.post = post;
    this.tell("connection");
    if (!post) {
      const error = { message: "The connection to Python is lost." };
      for (const answer of this.waiting.values()) answer({ ok: false, error });
      this.waiting.clear();
    }
  }

  answered(content) {
    const answer = this.waiting.get(content.id);
    this.waiting.delete(content.id);
    answer?.(content);
  }

  // Takes what is new, then draws all of it in one task: no picture of the display comes between.
  update(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    let at = Math.ceil((4 + length) / PADDING) * PADDING;
    if (header.frames.includes("axes")) this.frames = {}; // the others are of another file
    for (const frame of header.frames) this.frames[frame] = {};
    for (const { frame, name, shape, dtype } of header.arrays) {
      const Kind = dtype === "float64" ? Float64Array : Float32Array;
      const size = shape.reduce((a, b) => a * b, 1);
      const end = at + size * Kind.BYTES_PER_ELEMENT;
      this.frames[frame][name] = new Kind(buffer.slice(at, end));
      at = end;
    }
    Object.assign(this.state, header.state);
    const draws = new Set();
    for (const key of [...Object.keys(header.state), ...header.frames.map((name) => `frame:${name}`)]) {
      for (const draw of this.listeners.get(key) ?? []) draws.add(draw);
    }
    for (const draw of draws) draw(this);
    // uPlot draws at the end of the running task.
    queueMicrotask(() => {
      this.drawn = { version: header.version, at: performance.now() };
      this.timed();
    });
    this.post?.({ do: "seen", version: header.version });
  }
}

// Joins a link with the server that the page came from, again after a break; gives what ends that.
export function overSocket(link, address) {
  let pause = 250;
  let socket;
  let isEnded = false;
  const open = () => {
    socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      pause = 250;
      link.isOpen((content) => socket.send(JSON.stringify(content)));
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") link.answered(JSON.parse(data));
      else link.update(data);
    };
    socket.onclose = () => {
      link.isOpen(null);
      if (isEnded) return;
      setTimeout(open, pause);
      pause = Math.min(2 * pause, 5000);
    };
  };
  open();
  return () => {
    isEnded = true;
    socket.close();
  };
}

// Joins a link with the widget of a notebook; gives what ends that.
export function overWidget(link, model) {
  const hear = (content, buffers) => {
    if (!content.update) {
      link.answered(content);
      return;
    }
    const { buffer, byteOffset, byteLength } = buffers[0];
    link.update(buffer.slice(byteOffset, byteOffset + byteLength));
  };
  model.on("msg:custom", hear);
  link.isOpen((content) => model.send(content));
  link.ask({ do: "get", what: "all" });
  return () => model.off("msg:custom", hear);
}
