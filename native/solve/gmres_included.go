//go:build !js

package solve

// isGMRESLeftOut says whether GMRES is left out of the program. Only the playground leaves it out.
const isGMRESLeftOut = false
