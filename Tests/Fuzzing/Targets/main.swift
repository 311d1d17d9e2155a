import CFuzzer
import Glibc

// `--targets` lists what there is, for Tests/Fuzzing/fuzz.py. Everything else are arguments of libFuzzer, about the
// target that KYMO_FUZZ_TARGET names.
if CommandLine.arguments.dropFirst().first == "--targets" {
    for target in FuzzTarget.all { print("\(target.name)\t\(target.longest)\t\(target.isListed ? "" : "hidden")") }
    exit(0)
}
guard ChosenTarget.isKnown else {
    print("Fuzzing: set KYMO_FUZZ_TARGET to one of those that --targets lists")
    exit(64)
}
ChosenTarget.prepare()
var count = CommandLine.argc
var arguments = unsafe CommandLine.unsafeArgv
// Safe: the arguments of the process, and bytes that are valid during the call, of which a copy is made.
exit(
    unsafe LLVMFuzzerRunDriver(&count, &arguments) { data, size in
        let bytes = unsafe [UInt8](UnsafeBufferPointer(start: data, count: size))
        ChosenTarget.run(bytes)
        return 0
    })
