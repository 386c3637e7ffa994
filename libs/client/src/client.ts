/** The SDK for TypeScript. */
export {}
