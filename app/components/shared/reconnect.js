// When the page has a server again: another process may have taken it, which knows its address and nothing else.

/** Call back each time that the page was without its server and has one again; returns what ends that. */
export function afterReconnecting(callback) {
  const app = document.querySelector('[data-testid="stApp"]');
  if (!app) return () => {}; // a page saved to a file
  let lost = false;
  const changes = new MutationObserver(() => {
    const connected = app.dataset.testConnectionState === "CONNECTED";
    if (connected && lost) callback();
    lost = !connected;
  });
  changes.observe(app, { attributeFilter: ["data-test-connection-state"] });
  return () => changes.disconnect();
}
