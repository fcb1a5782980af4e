// Package cache stores the answers of engines in files. The same question is not
// asked twice, and an interrupted suite continues where it stopped.
//
//	c, err := cache.Open(dir)
//	data, ok := c.Get(cache.Key("prism 4.10, sha256:…", model, props, "N=3"))
//	err = c.Put(key, data)
//
// Every entry is a file of its own with a checksum over its key and its
// contents. A damaged entry counts as missing and is written again.
// Entries are written atomically, so several programs may use one directory at the same
// time.
package cache
