import Foundation
import GRDB
@testable import Kymograph
import KymographCore
import Testing

/// What dead letters keep of the patient of a peer, and when they come again.
@Suite struct LetterPatientTests {
    /// What dead letters keep of a peer's patient is exactly what it was, whatever is in it and in the name before it.
    @Test func aFixedPatientIsKeptInFull() {
        let texts = [
            "p-17", "P-17", "p 17", "%", "%41", "A", ", of the patient x", ", of no fixed patient", "é", "e\u{301}",
        ]
        let all: [FixedPatient] = [.absent] + (texts.map { Array($0.utf8) } + [[0, 255, 10]]).map { .patient($0) }
        for name in ["anna", "", ", of the patient p-1", ", of no fixed patient"] {
            for patient in all {
                let text = Array((name + patient.text).utf8)
                let (found, again) = FixedPatient.divided(text[...])
                #expect(Array(found) == Array(name.utf8) && again == patient, "\(name) \(patient)")
            }
        }
        for text in ["anna", "anna, of the patient ", "anna, of the patient %4", "anna, of the patient a b"] {
            let (found, patient) = FixedPatient.divided(Array(text.utf8)[...])
            #expect(Array(found) == Array(text.utf8) && patient == .unknown, "\(text)")
        }
        for (index, patient) in all.enumerated() {
            for (other, now) in all.enumerated() { #expect(patient.permits(now) == (index == other)) }
            #expect(FixedPatient.unknown.permits(patient) == (patient == .absent))
        }
    }

    private func letter(_ peer: String, _ patient: FixedPatient, _ device: CertifiedDevice? = nil) -> StoredLetter {
        StoredLetter(
            Row([
                "number": 1, "at": 0, "kind": "payload", "reason": "noTemplate", "source": "ward", "replayed": nil,
                "detail": "at byte 1; sent by 10.0.0.1:1, for the mapping a, the peer \(peer)\(patient.text)"
                    + (device?.text ?? ""),
                "codec": 0, "key_id": 0, "checksum": 0, "body": Data(),
            ]))
    }

    /// What dead letters keep of a certificate's device is exactly what it was, whatever is in it and before it.
    @Test func aCertifiedDeviceIsKeptInFull() throws {
        let mark = ", by its certificate's commonName x"
        let texts = ["pump-3-1", "PUMP-3-1", "%41", "A", " ", mark, ", of the patient x", "é", "e\u{301}"]
        var all: [CertifiedDevice?] = [nil]
        for kind in CertifiedDevice.kinds { all += texts.map { CertifiedDevice(kind, Array($0.utf8)) } }
        #expect(all.count { $0 == nil } == 1)
        for name in ["anna", mark, ", of the patient p-1"] {
            for patient in [FixedPatient.absent, .patient(Array(mark.utf8))] {
                for device in all {
                    let found = letter(name, patient, device)
                    #expect(
                        found.peerName == IdentifierText(name) && found.certifiedDevice == device, "\(found.detail)")
                    #expect(found.fixedPatient == patient && found.mappingName == "a", "\(found.detail)")
                }
            }
        }
        for bytes in [[], [0], Array("*".utf8), Array("pump-*".utf8), [0xFF], Array("a\nb".utf8)] {
            #expect(CertifiedDevice(.commonName, bytes) == nil, "\(bytes)")
        }
        #expect(CertifiedDevice(.mail, Array("a@b".utf8)) == nil)
        for text in ["\(mark) ", ", by its certificate's commonName ", ", by its certificate's x y"] {
            #expect(CertifiedDevice.divided(Array(text.utf8)[...]).device == nil, "\(text)")
        }
    }

    /// A name with the text in it that stands before names is that of no other peer.
    @Test func aNameWithTheMark() throws {
        let found = letter("ward, the peer anna", .absent)
        #expect(found.peerName == IdentifierText("ward, the peer anna") && found.mappingName == "a")
        #expect(found.patientObstacle(try settings(Array("p-1".utf8)), anyway: false) == nil)
        let bound = letter("ward, the peer anna", .patient(Array("p-1".utf8)))
        #expect(bound.patientObstacle(try settings(Array("p-1".utf8)), anyway: false) != nil, "anna is another one")
    }

    /// Settings of a source with a list in which anna has `patient`; nil for a source without one.
    private func settings(_ patient: [UInt8]?, isListed: Bool = true) throws -> PipelineSettings {
        var (rule, other) = (PeerRule(), PeerRule())
        (rule.name, rule.patient, other.name) = ("anna", patient, "ann\u{E1}")
        let list = PeerList([rule, other])
        var source = PipelineSettings.Source(.standardInput(descriptor: 0))
        source.statedName = "ward"
        if isListed {
            source.configuration.peers = try PeerBook("peers.yaml") { () throws(SettingProblem) in (list, []) }
        }
        var settings = PipelineSettings()
        settings.sources = [source]
        return settings
    }

    /// Where it is not known whose a peer's readings were, they are of nobody that a list names now.
    @Test func aLetterComesAgainForItsPatientAlone() throws {
        let patients: [[UInt8]?] = [nil, Array("p-1".utf8), Array("p-2".utf8)]
        let all: [FixedPatient] = [.unknown] + patients.map { $0.map(FixedPatient.patient) ?? .absent }
        for now in patients {
            let settings = try settings(now)
            for then in all {
                let anna = letter("anna", then)
                #expect(anna.fixedPatient == then && anna.peerName == "anna" && anna.mappingName == "a")
                let isSame = then == (now.map(FixedPatient.patient) ?? .absent) || then == .unknown && now == nil
                #expect((anna.patientObstacle(settings, anyway: false) == nil) == isSame, "\(then) \(now ?? [])")
                let isFree = isSame && now == nil
                #expect((anna.patientObstacle(settings, anyway: true) == nil) == isFree, "\(then) \(now ?? [])")
            }
        }
        for settings in [try settings(nil, isListed: false), try settings(nil)] {
            for then in all {
                // Of a peer that the list does not have, nothing is taken by it.
                let other = letter("anna\u{301}", then)
                let isUnbound = then == .absent || then == .unknown
                #expect((other.patientObstacle(settings, anyway: false) == nil) == isUnbound, "\(then)")
                #expect((other.patientObstacle(settings, anyway: true) == nil) == (then == .absent), "\(then)")
            }
        }
    }
}
