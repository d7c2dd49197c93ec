// Runs one command of the page's in a thread of its own.

onmessage = async ({ data: { engine, command, trace } }) => {
  try {
    const run = await runner(engine);
    run(command, trace, (told, bytes) => postMessage({ told, bytes }, bytes ? [bytes.buffer] : []));
  } catch (error) {
    postMessage({ told: { kind: "error", sentence: `the replay stopped before its end (${error.message}): either this browser has too little memory for the trace, which freehold compare may do with, or Freehold has an error, which please report` } });
  }
  postMessage({ told: { kind: "done" } });
};
