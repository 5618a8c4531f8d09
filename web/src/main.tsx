import { render } from "preact";
import { App } from "./app";
import "./styles/base.css";
import "./styles/board.css";
import "./styles/pages.css";

render(<App />, document.getElementById("app")!);
