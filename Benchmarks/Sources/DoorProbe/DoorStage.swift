import Kymograph
import KymographCore
import Readings

/// Hands the bytes of one connection to its protocol, piece by piece, and takes the replies.
struct DoorStage: ~Copyable, Stage {
    private let pool: LinePool
    /// Readings or messages in all pieces together.
    private let count: Int
    private let door: DoorTrial
    private var consumer = CountingReceiver()
    private var next = 0

    private init(_ door: DoorTrial, _ bytes: [UInt8], pieceBytes: Int, count: Int) {
        self.door = door
        self.count = count
        pool = .pieces(of: bytes, each: pieceBytes)
    }

    /// Requests of HTTP, each with a hundred readings, as a lane reads them: 64 KiB at a time.
    static func requests() -> DoorStage {
        let lines = LinePool.healthReadings(count: 1_000)
        // The lines are valid while it is alive.
        defer { withExtendedLifetime(lines) {} }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: 1_000, by: 100) {
            let body: [UInt8] = unsafe lines.lines[start..<start + 100].flatMap { $0.array + [0x0A] }
            let head =
                "POST /v1/ingest HTTP/1.1\r\nHost: localhost:5780\r\nUser-Agent: sender/1\r\nAccept: */*\r\n"
                + "Content-Type: application/x-ndjson\r\nContent-Length: \(body.count)\r\n\r\n"
            bytes += Array(head.utf8) + body
        }
        return DoorStage(.http(), bytes, pieceBytes: 65_536, count: 1_000)
    }

    /// Messages of HL7 v2, each alone, since its sender waits for its acknowledgement.
    static func messages() -> DoorStage {
        let frame: [UInt8] = [0x0B] + MappingComparisons.monitorMessage() + [0x1C, 0x0D]
        return DoorStage(.mllp(), frame, pieceBytes: frame.count, count: 1)
    }

    /// Takes `count` readings or messages.
    mutating func run(_ count: Int) {
        let before = consumer.taken
        let pieces = unsafe pool.lines
        for _ in 0..<count / self.count * pieces.count {
            door.take(pieces[next], to: &consumer)
            next = next + 1 == pieces.count ? 0 : next + 1
        }
        precondition(consumer.taken - before == count && door.replies > 0)
    }
}

/// Counts what it is handed.
struct CountingReceiver: PayloadReceiver, ~Copyable {
    private(set) var taken = 0

    mutating func line(_ bytes: ByteView, source: Int, received: Instant) { taken += 1 }

    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) { taken += 1 }

    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        fatalError("the workload gives only good readings: \(reason)")
    }

    mutating func batchEnd() {}
}
