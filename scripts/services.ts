// Each service as a process of its own: `npm run start:services`.
import '@automation/embedded/services'
