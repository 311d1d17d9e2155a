package import KymographCore

/// Maps lines to measurements and drops them.
package struct MapStage: ~Copyable, Stage {
    private struct CountingOutput: ~Copyable, MeasurementOutput {
        var accepted = 0

        mutating func take(_ reading: PlainReading, key: ShortKey, template: Int32) -> Bool {
            accepted += 1
            return true
        }

        mutating func accept(
            _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32
        ) -> Rejection? {
            accepted += 1
            return nil
        }

        mutating func reject(_ reason: Rejection, bytes: ByteView, detail: RejectionDetail) {
            fatalError("the workload gives only good readings: \(reason)")
        }
    }

    private let pool: LinePool
    private var mapper: Mapper
    private var context = SourceContext()
    private var received = Instant.distantFuture
    private var isDatagrams = false
    private var each = 1
    private var output = CountingOutput()
    private var next = 0

    /// Maps the lines of `pool` over and over with the mapping called "workload" of `set`.
    package init(_ pool: LinePool, _ set: MappingSet, usesFastPath: Bool = true) {
        self.pool = pool
        mapper = Mapper(set, templates: set.templates(of: ["workload"]), usesFastPath: usesFastPath)
    }

    /// Maps the arrays of `pool`, each of so many readings, over and over with the mapping called "workload" of `set`.
    package init(arrays pool: LinePool, of each: Int, _ set: MappingSet) {
        self.init(pool, set)
        self.each = each
    }

    /// Maps the messages of `pool`, each a datagram of so many readings, over and over.
    package init(messages pool: LinePool, of each: Int, _ set: MappingSet) {
        self.init(pool, set)
        (self.each, isDatagrams) = (each, true)
    }

    /// Maps the lines of `pool` over and over with the templates numbered `templates` of `set`.
    package init(_ pool: LinePool, _ set: MappingSet, templates: [Int]) {
        self.pool = pool
        mapper = Mapper(set, templates: templates)
    }

    /// Maps the packets of `pool`, each a datagram that came at `received`, over and over.
    package init(packets pool: LinePool, _ set: MappingSet, received: Instant) {
        self.pool = pool
        self.received = received
        isDatagrams = true
        context = SourceContext(defaultDevice: Array("strap-1".utf8))
        mapper = Mapper(set, templates: set.templates(of: ["workload"]))
    }

    /// Maps lines, arrays or packets that give `count` readings.
    package mutating func run(_ count: Int) {
        let lines = unsafe pool.lines
        let before = output.accepted
        for _ in 0..<count / each {
            if isDatagrams {
                mapper.mapDatagram(lines[next], context: context, received: received, output: &output)
            } else {
                mapper.mapLine(lines[next], context: context, received: received, output: &output)
            }
            next = next + 1 == lines.count ? 0 : next + 1
        }
        precondition(output.accepted - before == count)
    }
}
