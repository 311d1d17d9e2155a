@testable import Kymograph
import Testing

/// Places of topics, and files of properties.
@Suite struct KafkaPlaceTests {
    @Test func places() throws {
        let one = try KafkaPlace("kafka://127.0.0.1:9092,localhost,[::1]:9093/ward.3_vitals-x")
        #expect(one.brokers == "127.0.0.1:9092,localhost,[::1]:9093" && one.topic == "ward.3_vitals-x")
        #expect(one.isLocal && one.name == "127.0.0.1:9092,localhost,[::1]:9093/ward.3_vitals-x")
        for text in ["kafka://broker:9092/t", "kafka://127.0.0.1:9092,10.0.0.1/t", "kafka://127.example.org/t"] {
            #expect(try !KafkaPlace(text).isLocal, "\(text)")
        }
    }

    @Test(arguments: [
        "broker:9092/t", "kafka://broker", "kafka://broker/", "kafka:///t", "kafka://broker/a/b", "kafka://broker/ä",
        "kafka://broker/..", "kafka://a,,b/t", "kafka://broker:0/t", "kafka://broker:99999/t", "kafka://bro ker/t",
        "kafka://me:secret@broker/t",
    ])
    func noPlaces(text: String) {
        let error = #expect(throws: KafkaPlace.Fault.self) { try KafkaPlace(text) }
        #expect(error?.message.contains("secret") == false && error?.advice.isEmpty == false)
    }

    @Test func properties() throws {
        let file = try KafkaProperties(
            Array("# of the ward\n\n security.protocol = SASL_SSL \r\nsasl.password=a=b#c\n".utf8), name: "p")
        #expect(
            file.all == [
                KafkaProperty(name: "security.protocol", value: "SASL_SSL", place: "p:3: "),
                KafkaProperty(name: "sasl.password", value: "a=b#c", place: "p:4: "),
            ])
        #expect(file.statesSecurity)
        #expect(try !KafkaProperties(Array("sasl.username=x".utf8), name: "p").statesSecurity)
    }

    /// kymo runs no `kinit`, also where nothing but the default says that it would be run.
    @Test(arguments: [
        ("security.protocol=SASL_SSL\nsasl.kerberos.principal=kymo", true), ("sasl.mechanisms=GSSAPI", true),
        ("security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN", false), ("security.protocol=ssl", false),
    ]) func kerberos(text: String, isIt: Bool) throws {
        #expect(try KafkaProperties(Array(text.utf8), name: "p").usesKerberos == isIt)
    }

    @Test(arguments: [
        ("a=b\nsecret", "p:2: there is no '='"), ("acks=0", "p:1: kymo decides on acks"),
        ("topic.message.timeout.ms=1000", "p:1: kymo decides on topic.message.timeout.ms"),
        ("sasl.kerberos.principal=secret; rm", "p:1: sasl.kerberos.principal has characters"),
        ("sasl.kerberos.min.time.before.relogin=60000", "p:1: kymo runs no kinit"),
        ("\nplugin.library.paths=/tmp/secret.so", "p:2: kymo decides on plugin.library.paths"),
    ])
    func noProperties(_ one: (text: String, message: String)) {
        let error = #expect(throws: KafkaFault.self) { try KafkaProperties(Array(one.text.utf8), name: "p") }
        #expect(error?.message.hasPrefix(one.message) == true && error?.message.contains("secret") == false)
    }

    /// librdkafka says what is no property; the line is named, and not the value.
    @Test func whatLibrdkafkaDoesNotTake() throws {
        #expect(KafkaLibrary.problem == nil, "librdkafka1 is part of the set-up")
        let property = KafkaProperty(name: "sasl.passwort", value: "secret", place: "p:9: ")
        let error = #expect(throws: KafkaFault.self) { try KafkaProducer([property], topic: "t", bell: -1) }
        #expect(error?.message == "p:9: librdkafka takes no such sasl.passwort")
    }
}
