package solve

// The program of the playground leaves out GMRES, because every visitor loads it. Sweeps and elimination solve the chains of its models.
const isGMRESLeftOut = true
