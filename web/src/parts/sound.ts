// A short knock when a move is made; off unless the person turns it on.

import { load, save } from "../storage";

let context: AudioContext | null = null;

export const isSoundOn = (): boolean => load("sound", false);

export function setSound(isOn: boolean): void {
  save("sound", isOn);
  if (isOn) knock();
}

export function knock(): void {
  if (!isSoundOn()) return;
  try {
    context ??= new AudioContext();
    const now = context.currentTime;
    const tone = context.createOscillator();
    const volume = context.createGain();
    tone.type = "triangle";
    tone.frequency.setValueAtTime(320, now);
    tone.frequency.exponentialRampToValueAtTime(140, now + 0.09);
    volume.gain.setValueAtTime(0.25, now);
    volume.gain.exponentialRampToValueAtTime(0.001, now + 0.12);
    tone.connect(volume).connect(context.destination);
    tone.start(now);
    tone.stop(now + 0.13);
  } catch {
    // A browser without sound stays silent.
  }
}
