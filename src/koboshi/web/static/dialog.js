// A dialog of our own: what is asked stands in it as text.

import { h } from "./dom.js";

export function confirmed(question, detail, yes) {
  return new Promise((done) => {
    const dialog = h("dialog", { class: "ask", "aria-labelledby": "ask" },
      h("h2", { id: "ask" }, question), detail ? h("p", {}, detail) : null,
      h("div", { class: "buttons" },
        h("button", { type: "button", autofocus: true, onclick: () => dialog.close("no") }, "Cancel"),
        h("button", { type: "button", class: "danger", onclick: () => dialog.close("yes") }, yes)));
    dialog.addEventListener("close", () => { done(dialog.returnValue === "yes"); dialog.remove(); });
    document.body.append(dialog);
    dialog.showModal();
  });
}
