import { outlines, type IconName } from '../src/parts/icon-outlines.ts'
import { places } from '../src/shell/places.ts'

const icon = (name: IconName) => `<svg width="16" height="16" viewBox="0 0 24 24"><path d="${outlines[name]}"/></svg>`

/** The frame of the pages as a picture: what shows until the pages have drawn their own. Nothing of it can be used. */
export function firstFrame(): string {
  const ways = places.map((place) => `<span>${icon(place.icon)}${place.name}</span>`)
  return `<div id="first-frame" aria-hidden="true" inert><header>${icon('menu')}${icon('search')}</header><div>${ways.join('')}</div></div>`
}
