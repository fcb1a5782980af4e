// Package containers runs tools in Docker containers: it implements
// runner.Commander over an image, on testcontainers-go and the moby client.
//
//	err := containers.Prepare(ctx, os.LookupEnv, os.Setenv) // once, in main
//	d, err := containers.Connect(ctx)
//	pool, err := containers.NewPool(ctx, d, containers.Options{Tool: storm.Tool(), Image: storm.DefaultImage, Jobs: 4})
//	exit, err := pool.Run(ctx, runner.Command{Args: args, Files: files, Limits: limits, Stdout: out, Stderr: complaints})
//
// A [Pool] has a warm container for each of its jobs and runs the tool there by
// exec; a [Container] is one of them, for whoever wants it in the way of the
// modules of testcontainers-go (packages prism and storm). A run that does not
// end by itself takes its container with it, so that nothing of it is left.
//
// Walls: no network, a read-only root file system, user 65534, no capabilities
// and no new privileges, no swap, limits of memory, CPUs and processes. Files go
// in and out through the API, into a folder for each run.
//
// Time: the tool's own limit is the engine's affair. Package runner's Limits.Time
// and a little is enforced by timeout(1) in the container, and some seconds later
// the container is ended from here. What an image needs is therefore the tool,
// cat and timeout.
//
// Left behind is nothing: containers end and are removed when a run or its pool
// does, and also when this process is killed, because a container lives on a
// standard input that this process holds. Ryuk is used where its image is there
// ([Prepare]). Every container carries our labels, for [Docker.Sweep].
//
// What a run costs, and why it is an exec and not PRISM's nailgun, is in
// docs/impl-containers.md. The package knows nothing of what tools say.
package containers
