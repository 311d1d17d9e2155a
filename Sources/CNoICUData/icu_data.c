#include <stdint.h>

// An empty package of ICU data, in the place of the 34 MB that a static Foundation brings.
//
// ICU reads locales, calendars, collations and time zones out of `icudt76_dat`. The linker takes the object that defines it
// from the archive only when nothing else does. Here it is defined with no entries, as ICU's own "stubdata" library has it:
// ICU answers U_FILE_ACCESS_ERROR to whoever asks for an entry. `kymo` asks for none (TidyTests keeps the interfaces that
// would out of Sources); what it needs of Unicode is in tables of code, not in this package.
//
// Hidden, so that a build with shared libraries keeps the data of lib_FoundationICU.so. 76 is the version of ICU of Swift
// 6.3: with another version the name differs, the data comes back, and Benchmarks/size.sh fails.

// ICU's MappedData and UDataInfo (unicode/udata.h), and the header of a package with a table of contents, "ToCP".
struct ICUDataPackage {
    uint16_t headerSize;
    uint8_t magic[2];
    uint16_t infoSize;
    uint16_t reservedWord;
    uint8_t isBigEndian;
    uint8_t charsetFamily;
    uint8_t sizeofUChar;
    uint8_t reservedByte;
    uint8_t dataFormat[4];
    uint8_t formatVersion[4];
    uint8_t dataVersion[4];
    uint8_t padding[8];
    uint32_t entryCount;
    uint32_t reserved;
};

_Static_assert(sizeof(struct ICUDataPackage) == 40, "a header of 32 bytes, and an empty table of contents");

__attribute__((visibility("hidden"), aligned(16))) const struct ICUDataPackage icudt76_dat = {
    .headerSize = 32,
    .magic = {0xda, 0x27},
    .infoSize = 20,
    .isBigEndian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
    .sizeofUChar = 2,
    .dataFormat = {'T', 'o', 'C', 'P'},
    .formatVersion = {1, 0, 0, 0},
};
