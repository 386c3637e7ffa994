import { outlines, type IconName } from './icon-outlines.ts'

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
