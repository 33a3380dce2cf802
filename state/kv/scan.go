package kv

// Bounds returns the keys that a scan covers before its limit: those that are
// at least from and, unless to is empty, less than to. The cursor is already
// taken into account. If nothing can match, to is not empty and not more than
// from.
func (o ScanOptions) Bounds() (from, to string) {
	from, to = o.Prefix, prefixEnd(o.Prefix)
	switch {
	case o.After == "":
	case o.Reverse:
		if to == "" || o.After < to {
			to = o.After
		}
	default:
		// The smallest key behind a key is that key with a zero byte.
		if next := o.After + "\x00"; next > from {
			from = next
		}
	}
	return from, to
}

// prefixEnd returns the smallest key behind every key that starts with prefix,
// and "" if there is none: bytes of 0xff have nothing above them.
func prefixEnd(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if b := prefix[i]; b != 0xff {
			return prefix[:i] + string([]byte{b + 1})
		}
	}
	return ""
}
