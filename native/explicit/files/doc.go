// Package files writes state spaces to files that other tools read, and reads
// such files.
//
//	w, err := files.NewWriter(space, files.Options{})
//	err = w.Transitions(ctx, out)               // PRISM's model.tra
//	err = w.DRN(ctx, out)                       // Storm's model.drn
//	space, err := files.Read(ctx, sources, files.ReadOptions{})
//	space, err = files.ReadDRN(ctx, source, files.ReadOptions{})
//
// The formats are PRISM's .tra, .sta, .lab, .srew and .trew, written byte for
// byte as PRISM's explicit engine does, Storm's .drn, and DOT, which is written
// only. Readers are strict: what a file says twice must agree, and every
// diagnostic has a line and a column.
//
// The package opens no files and knows no file names but those in diagnostics.
package files
