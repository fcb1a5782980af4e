// Package prism runs PRISM and PRISM-games in Docker containers, and makes the images for it,
// because there is no official one.
//
//	d, err := containers.Connect(ctx)
//	img, err := prism.Make(ctx, d, prism.Recipe{Product: prism.PRISM, From: "/opt/prism-4.10"})
//	pool, err := containers.NewPool(ctx, d, containers.Options{Tool: prism.PRISM.Tool(), Image: img.Ref, Jobs: 4})
//	exit, err := pool.Run(ctx, runner.Command{Args: []string{"die.prism", "-pf", "P=? [ F s=7 ]"}, …})
//
// Run starts a single container in the way of the modules of testcontainers-go.
//
// The package knows how PRISM is started and how much memory it may take; what
// its arguments mean and what it prints are the business of others.
package prism
