// The admin command line in an image: it calls the services that the environment names.
import { inImage } from './called.ts'
import { adminProgram } from './commands.ts'
import { performOn } from './perform.ts'

const open = async () => (await import('./wire-target.ts')).openServicesOf(process.env)
await adminProgram(performOn(open, inImage), inImage).parseAsync()
