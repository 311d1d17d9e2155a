import Glibc
import Kymograph
import Testing

@Suite struct SignalWatcherTests {
    /// On a thread of its own, because the signals stay blocked in it.
    @Test func tellsOfSignals() {
        let seen = TestThread { () -> [SignalWatcher.Signal?] in
            guard let watcher = try? SignalWatcher() else { return [] }
            var signals = [watcher.next()]
            for signal in [SIGTERM, SIGINT, SIGHUP] {
                pthread_kill(pthread_self(), signal)
                signals.append(watcher.next())
            }
            return signals + [watcher.next()]
        }
        #expect(seen.join() == [nil, .terminate, .interrupt, .hangup, nil])
    }
}
