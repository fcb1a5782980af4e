// Package cache keeps what engines answered, so that the same question is not
// asked twice, and an interrupted suite goes on where it ended.
//
//	c, err := cache.Open(dir)
//	data, ok := c.Get(cache.Key("prism 4.10, sha256:…", model, props, "N=3"))
//	err = c.Put(key, data)
//
// Every entry is a file of its own with a checksum over its key and its
// contents. One that is damaged in any way is not there, and is written again.
// Entries are written atomically: programs may use one directory at the same
// time.
package cache
