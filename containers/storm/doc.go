// Package storm runs Storm in Docker containers of its official image.
//
//	pool, err := containers.NewPool(ctx, d, containers.Options{Tool: storm.Tool(), Image: storm.DefaultImage, Jobs: 4})
//	exit, err := pool.Run(ctx, runner.Command{Args: []string{"--prism", "die.prism", "--prop", "P=? [ F s=7 ]"}, …})
//
// Run starts a single container in the way of the modules of testcontainers-go.
//
// The package knows how Storm is started; what its arguments mean and what it
// prints are the business of others.
package storm
