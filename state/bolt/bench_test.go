package bolt

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"deskhand/state/kv"
)

// BenchmarkUpdate measures a durable Update beside the same puts in a bare
// bbolt transaction. The two take turns on files side by side, so that what
// the machine does otherwise hits both; the ratio is the number to look at.
func BenchmarkUpdate(b *testing.B) {
	for _, keys := range []int{1, 10} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			s := openAt(b, filepath.Join(b.TempDir(), "desk.db"), Options{})
			bare := bareDB(b)
			value := make([]byte, 500)
			var ours, theirs time.Duration
			before := s.Stats()
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				err := s.Update(b.Context(), func(tx kv.Tx) error {
					for k := range keys {
						if err := tx.Put(benchKey(i, k), value); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				err = bare.Update(func(tx *bbolt.Tx) error {
					bucket := tx.Bucket(bucketName)
					for k := range keys {
						if err := bucket.Put([]byte(benchKey(i, k)), value); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
				ours, theirs = ours+middle.Sub(start), theirs+time.Since(middle)
			}
			now := s.Stats()
			b.ReportMetric(ours.Seconds()/theirs.Seconds(), "x-bare")
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "µs/update")
			b.ReportMetric(float64(now.Bytes-before.Bytes)/float64(now.Commits-before.Commits), "B-written/update")
		})
	}
}

func benchKey(i, k int) string { return fmt.Sprintf("k/%d/%06d", k, i) }

func bareDB(b *testing.B) *bbolt.DB {
	b.Helper()
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), fileMode, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bucketName)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return db
}

// BenchmarkOpen opens and closes a file of 20,000 values.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "desk.db")
	s := openAt(b, path, Options{})
	for i := range 400 {
		err := s.Update(b.Context(), func(tx kv.Tx) error {
			for k := range 50 {
				if err := tx.Put(benchKey(i, k), make([]byte, 500)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
