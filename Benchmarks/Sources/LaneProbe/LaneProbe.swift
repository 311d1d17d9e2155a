import Foundation
import Glibc
import Kymograph
import KymographCore

/// `LaneProbe PORT [coalesce]`: receives datagrams on a lane that does nothing with them until standard input ends, and
/// prints what that took: the receiving part of the pipeline alone, for comparing with a receiver in C.
///
/// Time and CPU count from the first datagram on, and CPU is that of the lane's thread.
@main
struct LaneProbe {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 2, let port = UInt16(arguments[1]) else {
            print("usage: LaneProbe PORT [coalesce]")
            return
        }
        var source = SourceConfiguration(UDPSource(NetworkAddress(host: "127.0.0.1", port: port)))
        source.coalesces = arguments.contains("coalesce")
        // As the pipeline has it by default.
        source.longestRest = 1_000_000
        let lane = try Lane([source])
        FileHandle.standardError.write(Data("listening\n".utf8))
        Thread.detachNewThread {
            while readLine() != nil {}
            lane.stop()
        }
        var counter = DatagramCounter()
        _ = try lane.run(&counter)
        counter.report(lane.counts(0))
    }
}

/// A consumer that forgets everything.
struct DatagramCounter: PayloadConsumer, ~Copyable {
    private var batches = 0
    private var first: (time: Double, used: Double)?
    private var last = (time: 0.0, used: 0.0)

    mutating func batchBegin() {
        if first == nil { first = DatagramCounter.now() }
    }

    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {}

    mutating func line(_ bytes: ByteView, source: Int, received: Instant) {}

    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {}

    mutating func mark() -> DurableMark? { nil }

    mutating func batchEnd() { batches += 1 }

    /// Prints what `counts` took up to now.
    borrowing func report(_ counts: SourceCounts) {
        guard let first, counts.datagrams > 0 else { return print("received nothing") }
        let used = DatagramCounter.now().used - first.used
        let perDatagram = used * 1e9 / Double(counts.datagrams)
        print(
            "received \(counts.datagrams) dropped \(counts.kernelDrops), \(Int(perDatagram)) ns of CPU each, "
                + "\((Double(counts.datagrams) / Double(max(batches, 1)) * 10).rounded() / 10) a batch")
    }

    /// Seconds of the clock and of CPU that this thread has used.
    private static func now() -> (time: Double, used: Double) {
        (seconds(CLOCK_MONOTONIC), seconds(CLOCK_THREAD_CPUTIME_ID))
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        // Safe: the struct is ours; both clocks always exist.
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
