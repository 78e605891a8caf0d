// A word under the pointer lights all words that it is linked with. The lists say the same in text.
const light = (event, on) => {
  const word = event.target.closest?.(".word[data-group]");
  if (!word) return;
  for (const other of word.closest(".pair").querySelectorAll(`.word[data-group="${word.dataset.group}"]`)) other.classList.toggle("on", on);
};
document.addEventListener("pointerover", (event) => light(event, true));
document.addEventListener("pointerout", (event) => light(event, false));
