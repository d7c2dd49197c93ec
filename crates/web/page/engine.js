// The engine: compiled to WebAssembly, in this page or in a worker.

/** Returns a function that has the engine run a command and calls `reply` with each message. */
async function runner(engine) {
  let receive = () => {};
  const text = new TextDecoder();
  const page = {
    send: (json, jsonBytes, data, dataBytes) => {
      const memory = exports.memory.buffer;
      const message = JSON.parse(text.decode(new Uint8Array(memory, json >>> 0, jsonBytes)));
      receive(message, dataBytes ? new Uint8Array(memory, data >>> 0, dataBytes).slice() : null);
    },
  };
  const { instance: { exports } } = await WebAssembly.instantiate(engine, { page });
  return (command, trace, reply) => {
    receive = reply;
    const words = new TextEncoder().encode(JSON.stringify(command));
    const length = trace ? trace.byteLength : 0;
    const at = exports.input(length + words.length) >>> 0;
    const input = new Uint8Array(exports.memory.buffer, at, length + words.length);
    if (trace) input.set(new Uint8Array(trace));
    input.set(words, length);
    exports.run(length);
  };
}
