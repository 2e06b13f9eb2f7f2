// One module, two hosts: the page of the local server, and a notebook widget.
import "./style.css";
import { enter, pageToken } from "./core/token.js";
import { httpTransport, widgetTransport } from "./core/transport.js";
import { mount } from "./views/app.jsx";

export { mount };

export default {
  /** @param {{model: import("./core/widget_link.js").Model, el: HTMLElement}} host anywidget's */
  render({ model, el }) {
    el.classList.add("consilience-widget");
    return mount(el, widgetTransport(model), { address: false, model });
  },
};

const root = document.getElementById("consilience-root");
if (root) enter().then(() => mount(root, httpTransport(pageToken), { address: true }));
