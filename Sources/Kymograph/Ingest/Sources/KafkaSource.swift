import KymographCore

/// A topic of Kafka, or of what speaks its protocol, which kymo reads: `kafka://broker:9092/readings`.
package struct KafkaSource: WrittenSource {
    /// The topic.
    var place: KafkaPlace

    /// What all topics have in common.
    package static let descriptor: SourceDescriptor = {
        var descriptor = SourceDescriptor(
            key: "kafka", form: "URL of a topic",
            about: "Topic of Kafka, such as `kafka://broker:9093/readings`: one reading, an array or NDJSON per record",
            flag: .option(
                help: "Read a topic of Kafka: kafka://127.0.0.1:9092/readings. Repeatable.", valueName: "url"),
            capabilities: .records
        ) { (text) throws(SettingProblem) in try KafkaSource(parsing: text) }
        descriptor.splitsAtCommas = false
        return descriptor
    }()

    /// Reads `kafka://HOST:PORT/TOPIC`, with more hosts after commas.
    ///
    /// - Throws: ``SettingProblem`` when it is none.
    package init(parsing text: String) throws(SettingProblem) {
        do throws(KafkaPlace.Fault) {
            place = try KafkaPlace(text)
        } catch {
            throw SettingProblem(message: error.message, advice: error.advice)
        }
    }

    /// `kafka broker:9092/readings`.
    package var name: String { "kafka \(place.name)" }
    /// The URL.
    package var text: String { place.text }

    /// Brokers that are reached in plain text, and what would lose readings.
    package func problem(in configuration: SourceConfiguration) -> SettingProblem? {
        guard place.isLocal || configuration.kafka.propertiesFile != nil else {
            return SettingProblem(
                message: "brokers on other machines would be read in plain text, and anybody could be one",
                advice:
                    "name a file with security.protocol=sasl_ssl, or ssl, and what belongs to it, as propertiesFile; "
                    + "security.protocol=plaintext says that it is meant so")
        }
        guard !configuration.dropsWhenFull else {
            return SettingProblem(
                message: "positions in a topic are those of what is on disk, and this source drops readings",
                advice: "say whenFull: block")
        }
        return nil
    }

    /// What librdkafka is told of a consumer.
    private func properties(_ reading: KafkaReading) throws(KafkaFault) -> [KafkaProperty] {
        try KafkaAccess(place: place, file: reading.propertiesFile.map { SecretFile($0) }).properties(
            of: .consumer,
            [
                KafkaProperty(name: "group.id", value: reading.group),
                // Positions are told when all before them is on disk, and only then.
                KafkaProperty(name: "enable.auto.commit", value: "false"),
                KafkaProperty(name: "enable.auto.offset.store", value: "false"),
                // A place that is no longer there is looked into, and never passed over.
                KafkaProperty(name: "auto.offset.reset", value: "error"),
                KafkaProperty(name: "check.crcs", value: "true"),
                // Of the 64 MiB by default, what one lane needs to be busy.
                KafkaProperty(name: "queued.max.messages.kbytes", value: "16384"),
            ])
    }

    /// Begins nothing yet: a lane does, and does so again and again.
    ///
    /// - Throws: ``SourceError`` as ``probe(_:)``.
    package func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        try probe(configuration)
        let (reading, topic) = (configuration.kafka, place.topic)
        let longest = configuration.lineCap
        let feed = try KafkaFeed(name: name, topic: topic, reading: reading, longest: longest) {
            [self] (bell) throws(KafkaFault) in
            try KafkaConsumer(
                properties(reading), topic: topic, bell: bell,
                envelope: reading.headers.map { RecordEnvelope($0, longest: longest) })
        }
        return OpenedSource(self, Descriptor(-1), .records(OpenedSource.Records(feed: feed)))
    }
}

extension KafkaSource: ProbedSource {
    /// Looks whether librdkafka is there, and takes the file of properties.
    ///
    /// - Throws: ``SourceError`` when not.
    package func probe(_ configuration: SourceConfiguration) throws(SourceError) {
        if let problem = KafkaLibrary.problem {
            throw SourceError(
                kind: .settings,
                message: "\(name): librdkafka cannot be loaded: \(problem); install it (on Debian: librdkafka1)")
        }
        do throws(KafkaFault) {
            _ = try KafkaConsumer(properties(configuration.kafka), topic: place.topic, bell: -1)
        } catch {
            throw SourceError(kind: .settings, message: "\(name): propertiesFile: \(error.message)")
        }
    }
}

extension KafkaSource: AnsweringSource {
    /// Asks the brokers for the topic, and for the group's positions. Waits for the answers.
    ///
    /// - Throws: ``SourceError`` when they do not answer, or refuse.
    package func ask(_ configuration: SourceConfiguration) throws(SourceError) {
        try probe(configuration)
        var reading = configuration.kafka
        // With `latest`, a group that is new would be told where it begins.
        reading.beginning = .earliest
        do throws(KafkaFault) {
            let consumer = try KafkaConsumer(properties(reading), topic: place.topic, bell: -1)
            let session = KafkaSession(
                reading, topic: place.topic, into: FrameQueue(longest: configuration.lineCap), by: consumer)
            for attempt in 1...KafkaSession.attempts {
                do throws(KafkaFault) {
                    return try session.begin()
                } catch {
                    if attempt == KafkaSession.attempts || error.isLasting { throw error }
                }
            }
        } catch {
            throw SourceError(kind: .missing, message: "\(name): \(error.message)")
        }
    }
}
