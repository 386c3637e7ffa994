/** How a process is offered to choose from: names repeat, slugs do not. */
export const processLabel = ({ name, slug }: { name: string; slug: string }): string =>
  name === slug ? name : `${name} (${slug})`
