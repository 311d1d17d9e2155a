import CKafka
import Glibc

/// librdkafka, which is loaded when a topic is configured and not before.
///
/// This file calls C, with pointers that live as long as each call.
enum KafkaLibrary {
    /// Why librdkafka cannot be loaded; nil when it can.
    static var problem: String? { unsafe kymo_kafka_load().map { unsafe String(cString: $0) } }

    /// All of `properties` as librdkafka has them; whoever takes them frees them.
    ///
    /// - Throws: ``KafkaFault`` when it takes one of them not.
    static func made(_ properties: [KafkaProperty]) throws(KafkaFault) -> OpaquePointer {
        guard let all = unsafe kymo_kafka_properties_new() else { throw KafkaFault(.unable, "there is no memory") }
        for property in properties {
            let set = unsafe saying { problem, size in
                unsafe kymo_kafka_set(all, property.name, property.value, problem, size)
            }
            guard set.result != 0 else { continue }
            unsafe kymo_kafka_properties_free(all)
            // librdkafka's words quote the value, which may be a secret.
            throw KafkaFault(.unfit, "\(property.place)librdkafka takes no such \(property.name)")
        }
        return unsafe all
    }

    /// The result of `body`, and what it wrote where it says what is wrong.
    static func saying<Result>(
        _ body: (UnsafeMutablePointer<CChar>, Int) -> Result
    ) -> (result: Result, problem: String) {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            unsafe buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress else { preconditionFailure("it has 512 bytes") }
            let result = unsafe body(start, buffer.count)
            return (result, unsafe String(cString: start))
        }
    }

    /// What librdkafka says of the error `code`.
    static func fault(_ code: Int32) -> KafkaFault {
        KafkaFault(code: Int(code), saying: unsafe String(cString: kymo_kafka_text(code)))
    }
}
