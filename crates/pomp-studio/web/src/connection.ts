// The socket to the server: comes back after a loss, and says so.
import { type FromPage, fromServer, type ToPage, toServer } from "./protocol";

export interface Listener {
  received(message: ToPage): void;
  opened(): void;
  /** The connection is gone; it is tried again in `seconds`, or not at all. */
  lost(seconds: number | undefined): void;
}

/** Waits between two attempts, seconds. */
const WAITS = [0.5, 1, 2, 4, 8];

export class Connection {
  private socket: WebSocket | undefined;
  private attempts = 0;
  private retry: number | undefined;

  constructor(private readonly listener: Listener) {}

  open(): void {
    clearTimeout(this.retry);
    this.socket?.close();
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/socket`);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    let heard = false;
    socket.onopen = () => this.listener.opened();
    socket.onmessage = (event) => {
      if (socket !== this.socket) return;
      const message = fromServer(event.data as ArrayBuffer);
      if (message.kind === "scene") {
        heard = true;
        this.attempts = 0;
      }
      this.listener.received(message);
    };
    socket.onclose = () => {
      if (socket !== this.socket) return;
      // A server that answers but begins no world has said why; asking again at once would not help.
      const wait = heard || this.attempts > 0 ? WAITS[this.attempts++] : undefined;
      this.listener.lost(wait);
      if (wait !== undefined) this.retry = window.setTimeout(() => this.open(), wait * 1000);
    };
  }

  /** Tries again from the beginning. */
  again(): void {
    this.attempts = 1;
    this.open();
  }

  send(message: FromPage): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(toServer(message));
  }
}
