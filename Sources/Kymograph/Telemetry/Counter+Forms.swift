/// Forms of rows, so that each is what it says and where it reads.
extension Counter {
    /// A counter of the whole run.
    static func ofRun(
        _ name: String, _ kind: Kind = .counter, unit: String, _ help: String, _ phrases: [CounterPhrase] = [],
        _ read: @escaping @Sendable (PipelineSummary) -> Int
    ) -> Counter {
        Counter(name: name, kind: kind, unit: unit, labels: [], help: help, phrases: phrases) { input in
            input.run.map { [([], Double(read($0)))] } ?? []
        }
    }

    /// A counter of each source.
    static func ofSources(
        _ name: String, _ kind: Kind = .counter, unit: String, _ help: String, _ phrases: [CounterPhrase] = [],
        _ read: @escaping @Sendable (PipelineSummary.Source) -> Int
    ) -> Counter {
        Counter(name: name, kind: kind, unit: unit, labels: ["source"], help: help, phrases: phrases) { input in
            (input.run?.sources ?? []).map { ([$0.name], Double(read($0))) }
        }
    }

    /// What the store holds at the moment.
    static func ofStore(
        _ name: String, _ unit: String, _ help: String, _ phrases: [CounterPhrase] = [],
        _ read: @escaping @Sendable (StoreStatus) -> Double
    ) -> Counter {
        Counter(name: name, kind: .gauge, unit: unit, labels: [], help: help, phrases: phrases) { input in
            input.stored.map { [([], read($0))] } ?? []
        }
    }

    /// A counter of each sink.
    static func ofSinks(
        _ name: String, _ kind: Kind, unit: String, _ help: String,
        _ read: @escaping @Sendable (SinkStatus) -> Double
    ) -> Counter {
        Counter(name: name, kind: kind, unit: unit, labels: ["sink"], help: help, phrases: []) { input in
            input.sinks.map { ([$0.name], read($0)) }
        }
    }

    /// A counter of each sink of a running instance that takes entries by itself, as FHIR servers do.
    static func ofDeliveries(
        _ name: String, _ kind: Kind, unit: String, _ help: String,
        _ read: @escaping @Sendable (DeliverySummary) -> Double
    ) -> Counter {
        Counter(name: name, kind: kind, unit: unit, labels: ["sink"], help: help, phrases: []) { input in
            input.sinks.compactMap { sink in sink.delivery.map { ([sink.name], read($0)) } }
        }
    }

    /// What the system knows of the process.
    static func ofProcess(
        _ name: String, _ kind: Kind, _ unit: String, _ help: String,
        _ read: @escaping @Sendable (ProcessFacts) -> Double
    ) -> Counter {
        Counter(name: name, kind: kind, unit: unit, labels: [], help: help, phrases: []) { input in
            input.process.map { [([], read($0))] } ?? []
        }
    }

    /// What becomes of the audit trail's events, where they are sent.
    static func ofAudit(
        _ name: String, _ kind: Kind, _ unit: String, _ help: String,
        _ read: @escaping @Sendable (AuditDeliveryFacts) -> Int
    ) -> Counter {
        Counter(name: name, kind: kind, unit: unit, labels: [], help: help, phrases: []) { input in
            input.audit.map { [([], Double(read($0)))] } ?? []
        }
    }

    /// A counter of each ring.
    static func ofRings(
        _ name: String, _ kind: Kind, _ unit: String, _ help: String,
        _ read: @escaping @Sendable (EngineCounts.Ring) -> Int
    ) -> Counter {
        Counter(name: name, kind: kind, unit: unit, labels: ["lane", "shard"], help: help, phrases: []) { input in
            (input.run?.engine.rings ?? []).map { ([$0.lane, $0.shard], Double(read($0))) }
        }
    }

    /// Seconds of the threads of lanes or shards, by their numbers.
    static func ofThreads(
        _ name: String, label: String, _ help: String, _ read: @escaping @Sendable (EngineCounts) -> [Double]
    ) -> Counter {
        Counter(name: name, kind: .counter, unit: "seconds", labels: [label], help: help, phrases: []) { input in
            (input.run.map { read($0.engine) } ?? []).enumerated().map { (["\($0)"], $1) }
        }
    }

    /// What each shard has at hand.
    static func ofShards(
        _ name: String, _ unit: String, _ help: String, _ read: @escaping @Sendable (EngineCounts.Shard) -> Int
    ) -> Counter {
        Counter(name: name, kind: .gauge, unit: unit, labels: ["shard"], help: help, phrases: []) { input in
            (input.run?.engine.shards ?? []).map { ([$0.shard], Double(read($0))) }
        }
    }

    /// What each lane has met.
    static func ofLanes(
        _ name: String, _ unit: String, _ help: String, _ read: @escaping @Sendable (EngineCounts.Lane) -> Int
    ) -> Counter {
        Counter(name: name, kind: .gauge, unit: unit, labels: ["lane"], help: help, phrases: []) { input in
            (input.run?.engine.lanes ?? []).map { ([$0.lane], Double(read($0))) }
        }
    }

    /// What all lanes and shards go by; nothing where `read` gives nil.
    static func ofEngine(
        _ name: String, _ unit: String, _ help: String, _ read: @escaping @Sendable (EngineCounts) -> Int?
    ) -> Counter {
        Counter(name: name, kind: .gauge, unit: unit, labels: [], help: help, phrases: []) { input in
            (input.run.flatMap { read($0.engine) }).map { [([], Double($0))] } ?? []
        }
    }

    /// What a FHIR server was asked; nothing where `read` gives nil.
    static func ofTraffic(
        _ name: String, _ kind: Kind, _ unit: String, _ help: String,
        _ read: @escaping @Sendable (SinkTraffic) -> Double?
    ) -> Counter {
        Counter(name: name, kind: kind, unit: unit, labels: ["sink"], help: help, phrases: []) { input in
            input.sinks.compactMap { sink in sink.delivery?.traffic.flatMap(read).map { ([sink.name], $0) } }
        }
    }

    /// What is known of each file system that is written to.
    static func ofDisk(_ name: String, _ help: String, _ read: @escaping @Sendable (DiskFacts) -> Int) -> Counter {
        Counter(name: name, kind: .gauge, unit: "bytes", labels: ["directory"], help: help, phrases: []) { input in
            (input.watched?.disks ?? []).map { ([$0.directory], Double(read($0))) }
        }
    }

    /// What shows when an instance is looked at again and again.
    static func ofWatch(
        _ name: String, _ unit: String, _ help: String, _ read: @escaping @Sendable (WatchedCounts) -> Int
    ) -> Counter {
        Counter(name: name, kind: .gauge, unit: unit, labels: [], help: help, phrases: []) { input in
            input.watched.map { [([], Double(read($0)))] } ?? []
        }
    }
}
