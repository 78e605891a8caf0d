// Between Streamlit and a component: one object for each element, told of every run, closed when its element goes.

/** The default export of a component: `Component` takes the root element, `update` each run's data and senders, `close` cleans up. */
export function mount(selector, Component) {
  const instances = new WeakMap();
  return ({ data, parentElement, setStateValue, setTriggerValue }) => {
    const root = parentElement.querySelector(selector);
    if (!root || !data) return undefined;
    if (!instances.has(root)) instances.set(root, new Component(root));
    const made = instances.get(root);
    made.update({ data, setStateValue, setTriggerValue });
    return () => { made.close(); instances.delete(root); };
  };
}
