// Runs one command of the page's in a thread of its own.

onmessage = async ({ data: { engine, command, trace } }) => {
  try {
    const run = await runner(engine);
    run(command, trace, (reply, bytes) => postMessage({ reply, bytes }, bytes ? [bytes.buffer] : []));
  } catch (error) {
    postMessage({ reply: { kind: "error", sentence: `the replay stopped before its end (${error.message}): either this browser has too little memory for the trace, which freehold compare may do with, or Freehold has an error, which please report` } });
  }
  postMessage({ reply: { kind: "done" } });
};
