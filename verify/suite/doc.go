// Package suite finds the runs of a regression suite in the layout of PRISM's
// prism-auto: models, properties files, and .args and .auto files with switches.
//
//	runs, err := suite.Discover(os.DirFS("prism-tests"), "functionality/language", true)
//	opts, err := runs[0].Options()  // the meaning of PRISM's switches, for any engine
//
// It runs no tools and reads no models.
package suite
