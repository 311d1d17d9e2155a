import Testing

@testable import Kymograph

/// What of a dead letter is seen before it is revealed.
@Suite struct LetterMaskTests {
    @Test(arguments: [
        ("mapping reading, type heartRate, value hr $.hr", "mapping reading, type heartRate, value hr $.hr"),
        ("mapping reading, type heartRate; sent by 10.0.0.7:5000, the peer ward", "mapping reading, type heartRate"),
        ("at byte 17; sent by /run/ward.sock", "at byte 17"),
        (
            "nearest template: mapping m, type t, line 3: typeMatchExpression $..[?(@.k)]: k: is 'p-0042'",
            "nearest template: mapping m, type t, line 3"
        ),
        ("sent by 10.0.0.7:5000, the peer p-0042", nil), ("the patient p-0042 is unknown", nil), ("", nil),
        ("rule ward, mapping reading, type heartRate", nil), ("p-0042; mapping reading", nil),
    ])
    func details(detail: String, shown: String?) {
        #expect(LetterMask.detail(detail, kind: "payload") == shown)
        #expect(LetterMask.detail(detail, kind: "entry") == nil)
        #expect(LetterMask.detail(detail, kind: "measurement") == nil)
    }

    @Test func shapesHaveNoContent() {
        let shape = LetterMask.shape(
            Array("{\"deviceId\": \"p-0042\", \"value\": 7731, \"p-0042\": [\"p-0042\"]}".utf8))
        #expect(shape.contains("deviceId") && !shape.contains("0042") && !shape.contains("7731"))
    }
}
