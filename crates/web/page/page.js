// Puts the page together.

async function start() {
  document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
  let engine, run;
  try {
    engine = await carriedPacked("engine");
    run = await runner(engine);
  } catch (error) {
    byId("replay-state").className = "alarm";
    byId("replay-state").textContent = `This browser cannot run the page’s engine (${error.message}); a newer one can.`;
    return;
  }
  new SandboxView(run);
  const replay = new ReplayView(engine);
  // After the next frame, what was shown can be seen and used.
  requestAnimationFrame(() => setTimeout(() => {
    performance.mark("interactive");
    replay.openSample();
  }, 0));
}

start();
