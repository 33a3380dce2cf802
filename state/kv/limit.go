package kv

// CheckKey returns ErrBadKey unless key may be used in a store.
func CheckKey(key string) error {
	if key == "" || len(key) > MaxKeyLen {
		return ErrBadKey
	}
	return nil
}

// RunLimited runs fn on tx within the limits of an Update. Every backend runs
// fn through it and nowhere else, once per attempt. It reports whether
// something was written, and the error for which the backend has to drop
// everything: that of fn, or the first one that a method of tx returned.
// The latter counts even if fn ignored it, because what fn did afterwards was
// done without knowing what it read or wrote.
func RunLimited(tx Tx, fn func(Tx) error) (wrote bool, err error) {
	l := &limitedTx{tx: tx, touched: make(map[string]int)}
	defer func() { l.done = true }()
	if err := fn(l); err != nil {
		return false, err
	}
	if l.failed != nil {
		return false, l.failed
	}
	return l.wrote, nil
}

// limitedTx counts what goes through it to tx.
type limitedTx struct {
	tx      Tx
	touched map[string]int // bytes to be written, by key
	bytes   int            // the sum of touched
	wrote   bool
	failed  error // the first error that was returned, returned ever after
	done    bool
}

func (l *limitedTx) Get(key string) ([]byte, bool, error) {
	if err := l.touch(key, -1); err != nil {
		return nil, false, err
	}
	value, ok, err := l.tx.Get(key)
	if err != nil {
		return nil, false, l.fail(err)
	}
	return value, ok, nil
}

func (l *limitedTx) Put(key string, value []byte) error {
	if err := l.touch(key, len(value)); err != nil {
		return err
	}
	return l.write(l.tx.Put(key, value))
}

func (l *limitedTx) Delete(key string) error {
	if err := l.touch(key, 0); err != nil {
		return err
	}
	return l.write(l.tx.Delete(key))
}

// touch counts key, with size bytes to be written; a negative size is a read.
func (l *limitedTx) touch(key string, size int) error {
	if l.done {
		return ErrTxDone
	}
	if l.failed != nil {
		return l.failed
	}
	if err := CheckKey(key); err != nil {
		return l.fail(err)
	}
	before, known := l.touched[key]
	if !known && len(l.touched) == MaxKeys {
		return l.fail(ErrTooManyKeys)
	}
	if size < 0 {
		size = before
	}
	if size-before > MaxBytes-l.bytes {
		return l.fail(ErrTooLarge)
	}
	l.bytes += size - before
	l.touched[key] = size
	return nil
}

func (l *limitedTx) write(err error) error {
	if err != nil {
		return l.fail(err)
	}
	l.wrote = true
	return nil
}

func (l *limitedTx) fail(err error) error {
	l.failed = err
	return err
}
