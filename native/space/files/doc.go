// Package files writes state spaces to files that other tools read, and reads
// such files.
//
//	w, err := files.NewWriter(space, files.Options{})
//	err = w.Transitions(ctx, out)               // PRISM's model.tra
//	err = w.Combined(ctx, out)                  // PRISM's model.pexp
//	err = w.DRN(ctx, out)                       // Storm's model.drn
//	err = w.UMB(ctx, out)                       // model.umb, of PRISM, Storm and Modest
//	space, err := files.Read(ctx, sources, files.ReadOptions{})
//	space, err = files.ReadCombinedFile(ctx, source, files.ReadOptions{})
//	space, err = files.ReadDRN(ctx, source, files.ReadOptions{})
//	space, err = files.ReadUMB(ctx, source, files.ReadOptions{})
//
// The formats are PRISM's .tra, .sta, .lab, .srew and .trew, and .pexp, which has
// all of them, written byte for byte as PRISM's explicit engine does, Storm's
// .drn, and DOT. DOT is written only, and so are the variants of PRISM's files
// that Options.Format and Options.Symbolic name. Readers are strict: what a file
// contains twice must agree, and every diagnostic has a line and a column.
//
// The package does not open files. It uses file names only in diagnostics.
package files
