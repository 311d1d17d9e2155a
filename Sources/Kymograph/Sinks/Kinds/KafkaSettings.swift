import KymographCore
import KymographTemplates

/// A topic of Kafka, or of what speaks its protocol: `kafka: kafka://broker:9092/readings`.
package struct KafkaSettings: SinkAddress {
    /// The topic; nil where none is named.
    var place: KafkaPlace?
    /// File of further properties of librdkafka; as it may have secrets, one that nobody else can read.
    var propertiesFile: String?
    /// Which messages have keys.
    var partitioning = EventPartitioning.device

    /// No topic.
    init() {}

    /// The kind.
    package static let descriptor: SinkDescriptor = {
        var descriptor = SinkDescriptor(
            key: "kafka",
            place: .single(
                "kafka", "URL", "Topic of Kafka that gets resources, or readings, as messages",
                read: { (text, settings) throws(SettingProblem) in
                    do throws(KafkaPlace.Fault) {
                        settings.place = try KafkaPlace(text)
                    } catch {
                        throw SettingProblem(message: error.message, advice: error.advice)
                    }
                },
                shown: { $0.place?.text ?? "" }),
            settings: [
                .text(
                    "propertiesFile", "file", \.propertiesFile,
                    "Properties of librdkafka for a topic, `name=value` in each line: `security.protocol`, "
                        + "`sasl.username` and the like"),
                .choice(
                    "partitionKey", \.partitioning, [("device", .device), ("none", .none)],
                    "What messages of a topic have as key: `device` the identifier of the device, `none` nothing"),
            ],
            start: KafkaSettings(), capabilities: [.mayBeAway, .events, .answers])
        descriptor.schemes = [KafkaPlace.scheme]
        return descriptor
    }()

    /// The URL.
    package var text: String { place?.text ?? "" }
    /// The kind, and the URL without its scheme.
    package var name: String { "kafka \(place?.name ?? "")" }
    /// Several sinks can write to one topic.
    package var claim: String? { nil }

    /// What is wrong with its settings, among themselves and with the rest.
    package func findings(_ circumstances: SinkCircumstances) -> [SinkFinding] {
        var found: [SinkFinding] = []
        if place?.isLocal == false, propertiesFile == nil {
            found.append(
                SinkFinding(
                    .error, "brokers on other machines would get readings in plain text, and take them from anybody",
                    advice: "name a file with security.protocol=sasl_ssl, or ssl, and what belongs to it, as "
                        + "propertiesFile; security.protocol=plaintext says that it is meant so"))
        }
        if circumstances.keepsNothing {
            found.append(
                SinkFinding(
                    .error, pipelineKey: "ephemeral", "what brokers have not taken must wait on the disk",
                    advice: "remove ephemeral, or name a directory with data"))
        }
        return found
    }

    private func target(keepsReceipts: Bool = false) -> KafkaTarget? {
        guard let place else { return nil }
        var target = KafkaTarget(place)
        target.properties = propertiesFile.map { SecretFile($0) }
        (target.partitioning, target.keepsReceipts) = (partitioning, keepsReceipts)
        return target
    }

    /// A library that is not there, and what is wrong with the file of properties.
    package func obstacles(_ opening: SinkOpening) -> [SinkObstacle] {
        if let problem = KafkaLibrary.problem {
            return [
                SinkObstacle(
                    "\(opening.name): librdkafka cannot be loaded: \(problem); install it (on Debian: librdkafka1)",
                    exitCode: ExitStatus.config)
            ]
        }
        guard let target = target() else { return [] }
        do throws(KafkaFault) {
            _ = try KafkaProducer(target.allProperties(), topic: target.place.topic, bell: -1)
            return []
        } catch {
            return [fault(error.message, opening)]
        }
    }

    private func fault(_ message: String, _ opening: SinkOpening) -> SinkObstacle {
        SinkObstacle(
            key: "propertiesFile", "\(opening.name): propertiesFile: \(message)", exitCode: ExitStatus.config)
    }

    /// Longest wait for brokers that are asked, in milliseconds.
    private static let patience: Int32 = 10_000

    /// Asks the brokers for the topic. Waits for the answer.
    package func answer(_ opening: SinkOpening) -> [SinkObstacle] {
        guard let target = target(), obstacles(opening).isEmpty else { return [] }
        do throws(KafkaFault) {
            let producer = try KafkaProducer(target.allProperties(), topic: target.place.topic, bell: -1)
            let count = try producer.partitions(milliseconds: KafkaSettings.patience)
            let partitions = CountText.of(count, "partition")
            return [SinkObstacle("\(target.place.name) answers: the topic has \(partitions)", exitCode: 0)]
        } catch {
            let code =
                switch error.kind {
                case .refused: ExitStatus.noPermission
                case .insecure, .unfit, .tooLarge, .content, .nowhere, .unreadable: ExitStatus.config
                case .unreachable, .ended, .unable: ExitStatus.unavailable
                }
            return [SinkObstacle("\(opening.name): \(error.message)", exitCode: code)]
        }
    }

    /// Takes entries from the outbox, once there is one.
    package func open(_ opening: SinkOpening) -> OpenedSink {
        .delivery { [self] (outbox) throws(PipelineError) in
            if let obstacle = obstacles(opening).first {
                throw PipelineError(message: obstacle.message, exitCode: obstacle.exitCode)
            }
            guard let target = target(keepsReceipts: opening.keepsReceipts) else {
                throw PipelineError(message: "\(opening.name): there is no URL", exitCode: ExitStatus.config)
            }
            do throws(SystemError) {
                let delivery = try ServerDelivery(base: target.place.name) { inbox in
                    KafkaEngine(target, queue: outbox) { () throws(KafkaFault) in
                        try KafkaProducer(
                            target.allProperties(), topic: target.place.topic, bell: inbox.descriptor)
                    }
                }
                return OpenedServer(delivery)
            } catch {
                throw PipelineError(error)
            }
        }
    }
}
