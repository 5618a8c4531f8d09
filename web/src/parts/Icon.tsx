// Small signs of buttons, our own drawing, in lines of the text's colour.

const paths = {
  first: "M6 5v14M19 5l-9 7 9 7z",
  back: "M16 5l-9 7 9 7z",
  next: "M8 5l9 7-9 7z",
  last: "M18 5v14M5 5l9 7-9 7z",
  play: "M7 4l13 8-13 8z",
  pause: "M8 5v14M16 5v14",
  undo: "M4 9h10a5 5 0 0 1 0 10h-3M4 9l4-4M4 9l4 4",
  hint: "M9 18h6M10 21h4M12 3a6 6 0 0 1 3.5 10.900V15h-7v-1.100A6 6 0 0 1 12 3z",
  flag: "M6 21V4M6 4h11l-2.5 4L17 12H6",
  sun: "M12 7.500a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.400M17.6 17.6 19 19M19 5l-1.4 1.400M6.4 17.6 5 19",
  moon: "M19.5 14.500A8 8 0 0 1 9.5 4.500a8 8 0 1 0 10 10z",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  sound: "M4 9v6h4l5 4V5L8 9zM16.5 8.500a5 5 0 0 1 0 7M19 6a8.5 8.5 0 0 1 0 12",
  silent: "M4 9v6h4l5 4V5L8 9zM17 9.500l5 5M22 9.500l-5 5",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  save: "M12 4v11M7 11l5 5 5-5M5 20h14",
  search: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5 21 21",
  close: "M6 6l12 12M18 6 6 18",
  branch: "M7 4v16M7 12c6 0 10-1 10-7M14 7l3-3 3 3",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c.5-5 3-7 6.5-7s6 2 6.5 7M16 4.500a3 3 0 0 1 0 6M18 13.500c2 .8 3.2 2.8 3.5 6.5",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
  flip: "M7 4v14M3.5 7.5 7 4l3.5 3.500M17 20V6M13.5 16.5 17 20l3.5-3.5",
  code: "M8.5 7 4 12l4.5 5M15.5 7l4.5 5-4.5 5",
  open: "M4 19V5h6l2 2.500h8V19z",
  check: "M4.5 12.5 10 18 20 6.5",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">
      <path d={paths[name]} />
    </svg>
  );
}
