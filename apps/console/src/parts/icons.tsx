/** Outlines on a grid of 24, each as the data of one path. */
const outlines = {
  home: 'M4 11 12 4l8 7v9h-5v-6H9v6H4z',
  code: 'm8 7-5 5 5 5M16 7l5 5-5 5M14 4l-4 16',
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  calendar: 'M4 6h16v14H4zM4 10h16M8 3v4M16 3v4',
  box: 'M12 3 4 7v10l8 4 8-4V7zM4 7l8 4 8-4M12 11v10',
  key: 'M14 10a4 4 0 1 0-3.5 4L13 16.5h2.5V19H18v2h3v-3l-7.3-7.3',
  puzzle: 'M5 8h4a2 2 0 1 1 4 0h4v4a2 2 0 1 1 0 4v4H5z',
  folder: 'M3 6h6l2 2h10v11H3z',
  terminal: 'M4 5h16v14H4zM7 9l3 3-3 3M12 15h5',
  shield: 'M12 3 5 6v5c0 5 3 8 7 10 4-2 7-5 7-10V6z',
  settings:
    'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6M12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M18.4 5.6l-2.2 2.2M7.8 16.2l-2.2 2.2',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l5 5',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M19 5l-1.4 1.4M6.4 17.6 5 19',
  moon: 'M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10',
  check: 'm5 12 5 5 9-10',
  cross: 'm6 6 12 12M18 6 6 18',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 8v4l3 2',
  play: 'M8 5v14l11-7z',
  pause: 'M8 5v14M16 5v14',
  stop: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M8 12h8',
  dot: 'M12 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4',
  plus: 'M12 5v14M5 12h14',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  download: 'M12 4v11M7 11l5 5 5-5M4 20h16',
  upload: 'M12 16V5M7 9l5-5 5 5M4 20h16',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  left: 'm15 5-7 7 7 7',
  right: 'm9 5 7 7-7 7',
  down: 'm5 9 7 7 7-7',
  chart: 'M4 4v16h16M9 16v-5M14 16V8M19 16v-3',
  rerun: 'M20 12a8 8 0 1 1-2.5-5.8M20 3v4h-4',
  warning: 'M12 4 2.5 20h19zM12 10v4M12 17h.01',
  webhook: 'M12 5a3 3 0 0 1 2.5 4.6L17 14M12 5a3 3 0 0 0-2.5 4.6L7 14M7 14a3 3 0 1 0 3 3h7M17 14a3 3 0 1 1-2.5 4.5',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4 21c0-4 4-6 8-6s8 2 8 6',
  menu: 'M4 6h16M4 12h16M4 18h16',
} as const

export type IconName = keyof typeof outlines

/** Icons of 16 pixels in the colour of the text; what they mean stands beside them, so screen readers skip them. */
export const icons = Object.fromEntries(
  Object.entries(outlines).map(([name, outline]) => [
    name,
    function Icon({ size = 16 }: { size?: number }) {
      return (
        <svg
          aria-hidden="true"
          width={size}
          height={size}
          viewBox="0 0 24 24"
          fill="none"
          stroke="currentColor"
          strokeWidth="2"
          strokeLinecap="round"
          strokeLinejoin="round"
        >
          <path d={outline} />
        </svg>
      )
    },
  ]),
) as Record<IconName, (props: { size?: number }) => React.JSX.Element>
