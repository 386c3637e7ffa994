#!/usr/bin/env node
/** The command line `pas`. */
export {}
