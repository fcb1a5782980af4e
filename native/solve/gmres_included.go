//go:build !js

package solve

// isGMRESLeftOut says whether the program lacks GMRES, as that of the playground does.
const isGMRESLeftOut = false
