import CLimits
import CSimdjson
import KymographCore
import Readings

extension StageTable {
    private static let lines = 8_192
    private static let turns = 101

    /// Scanning readings of 200 bytes.
    static func scan() -> [StageRow] {
        let pool = LinePool.healthReadings(count: lines)
        var race = Race(turns: turns)
        let stage = Repeated(DecodeStage(pool, names: DecodeStage.healthNames))
        race.add(lines) { stage.run(lines) }
        let twin = Repeated(TapeTwin(pool, names: DecodeStage.healthNames))
        race.add(lines) { twin.run(lines) }
        race.add(lines) {
            var reading = unsafe limits_reading()
            unsafe forEachLine(pool) { unsafe limits_scan($0, $1, &reading) }
        }
        var sum = 0.0
        let hasRival = unsafe addRival(to: &race, pool) { unsafe rival_scan($0, $1, $2, &sum) }
        return rows("scan, readings of 200 B", race.run(), hasRival: hasRival, isUnchecked: true)
    }

    /// Scanning lines of the workload.
    static func scanOfLines() -> [StageRow] {
        let pool = LinePool.workload(count: lines)
        var race = Race(turns: turns)
        let stage = Repeated(DecodeStage(pool, names: DecodeStage.workloadNames))
        race.add(lines) { stage.run(lines) }
        let twin = Repeated(TapeTwin(pool, names: DecodeStage.workloadNames))
        race.add(lines) { twin.run(lines) }
        var sum: Int64 = 0
        let hasRival = unsafe addRival(to: &race, pool) { unsafe rival_line($0, $1, $2, &sum) }
        return rows("scan, workload lines of 106 B", race.run(), hasRival: hasRival, isUnchecked: false)
    }

    private static func rows(
        _ stage: String, _ measured: [[Double]], hasRival: Bool, isUnchecked: Bool
    ) -> [StageRow] {
        let checked = StageRow(
            stage: stage, twin: "C, the same checks and tape", promise: .times(1 / 0.9), ours: measured.map { $0[0] },
            theirs: measured.map { $0[1] })
        var others: [String] = []
        if isUnchecked { others.append("C, four fields, nothing checked") }
        if hasRival { others.append("simdjson on demand, the fields alone") }
        return [checked]
            + others.enumerated().map { number, name in
                StageRow(
                    stage: "", twin: name, promise: .none, ours: measured.map { $0[0] },
                    theirs: measured.map { $0[2 + number] })
            }
    }

    private static func addRival(
        to race: inout Race, _ pool: LinePool,
        _ scan: @escaping (OpaquePointer, UnsafePointer<UInt8>, Int) -> Int32
    ) -> Bool {
        guard let parser = unsafe rival_create() else { return false }
        race.add(lines) { unsafe forEachLine(pool) { unsafe scan(parser, $0, $1) } }
        return true
    }

    /// Calls `scan` with each line; `scan` gives 0 when all was well.
    private static func forEachLine(_ pool: LinePool, _ scan: (UnsafePointer<UInt8>, Int) -> Int32) {
        for line in unsafe pool.lines {
            let bytes = unsafe line.unsafeBuffer.assumingMemoryBound(to: UInt8.self)
            guard let start = bytes.baseAddress else { continue }
            precondition(unsafe scan(start, bytes.count) == 0)
        }
    }

    /// From lines of the workload to records: at most 60 ns more than scanning them takes. Those of a known shape are not
    /// scanned at all.
    static func map() -> [StageRow] {
        let pool = LinePool.workload(count: lines)
        var race = Race(turns: turns)
        let map = Repeated(MapStage(pool, Workload.mappings()))
        race.add(lines) { map.run(lines) }
        let scan = Repeated(DecodeStage(pool, names: DecodeStage.workloadNames))
        race.add(lines) { scan.run(lines) }
        let mapTwin = Repeated(TapeTwin(pool, names: DecodeStage.workloadNames, maps: true))
        race.add(lines) { mapTwin.run(lines) }
        let measured = race.run()
        let scanned = Race.median(measured.map { $0[1] })
        return [
            StageRow(
                stage: "line to record", twin: "C, its scan and map", promise: .nanoseconds(scanned + 60),
                ours: measured.map { $0[0] }, theirs: measured.map { $0[2] })
        ]
    }

    /// Reading times.
    static func time() -> [StageRow] {
        var race = Race(turns: turns)
        let stage = Repeated(TimeStage())
        race.add(lines) { stage.run(lines) }
        let twin = Repeated(TimeStage(isTwin: true))
        race.add(lines) { twin.run(lines) }
        return [row("ISO 8601 with milliseconds", "C, nothing checked", .nanoseconds(20), race)]
    }

    private static func row(_ stage: String, _ twin: String, _ promise: Promise, _ race: Race) -> StageRow {
        let measured = race.run()
        return StageRow(
            stage: stage, twin: twin, promise: promise, ours: measured.map { $0[0] }, theirs: measured.map { $0[1] })
    }

    /// A ring, written and read by one thread.
    static func ring() -> [StageRow] {
        let events = 1 << 16
        var race = Race(turns: turns)
        let stage = Repeated(RingStage())
        race.add(events) { stage.run(events) }
        race.add(events) { precondition(limits_ring_alone(UInt64(events), 8_192) > 0) }
        return [row("ring, one thread, 64 B", "C11", .nanosecondsOrTwin(10), race)]
    }

    /// A ring between two threads.
    static func rings() -> [StageRow] {
        let events = 1 << 20
        var race = Race(turns: 25)
        race.add(events) { precondition(RingStage.acrossThreads(events) > 0) }
        race.add(events) { precondition(limits_ring(UInt64(events), 8_192) > 0) }
        return [row("ring between two threads, 64 B", "C11", .nanosecondsOrTwin(10), race)]
    }

    /// Taking readings from a ring into windows, less the ring.
    static func windows() -> [StageRow] {
        [(10_000, 30, 25.0), (250_000, 10, 60.0)].map { devices, perWindow, most in
            let stage = InsertStage(devices: devices, perWindow: perWindow)
            let items = stage.roomForReadings / (turns + 1)
            let ours = Repeated(stage)
            var race = Race(turns: turns)
            race.add(items) { ours.run(items) }
            let ring = Repeated(RingStage())
            race.add(items) { ring.run(items) }
            let twin = Repeated(InsertTwin(devices: devices, perWindow: perWindow))
            race.add(items) { twin.run(items) }
            let measured = race.run()
            return StageRow(
                stage: "window insert, \(devices) devices x 4 types", twin: "C, blocks that double",
                promise: .nanoseconds(most), ours: measured.map { $0[0] - $0[1] }, theirs: measured.map { $0[2] })
        }
    }

    /// Writing bundles.
    static func encode() -> [StageRow] {
        let observations = 1_024
        let bytes = Double(FHIRStage.bytesPerObservation())
        var race = Race(turns: turns)
        let stage = Repeated(FHIRStage())
        race.add(observations) { stage.run(observations) }
        let twin = Repeated(BundleTwin())
        race.add(observations) { twin.run(observations) }
        var sampler = FHIRStage()
        let sample = sampler.sample()
        race.add(observations) {
            precondition(unsafe limits_copy(sample, sample.count, UInt64(observations)) > 0)
        }
        let measured = race.run()
        let ours = measured.map { $0[0] }
        return [
            StageRow(
                stage: "encode, Observation of \(rounded(bytes, 0)) B in a bundle", twin: "C, the same bytes",
                promise: .nanosecondsOrTwin(bytes / 2), ours: ours, theirs: measured.map { $0[1] }),
            StageRow(
                stage: "", twin: "memcpy of an Observation", promise: .none, ours: ours,
                theirs: measured.map { $0[2] }),
        ]
    }
}
