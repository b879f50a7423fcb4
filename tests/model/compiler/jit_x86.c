/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * The bytes of each form of instruction that generated code consists of are what binutils'
 * disassembler takes for that instruction: with low and high registers, near and far displacements,
 * bases that need an extra byte.
 */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "compiler/jit_x86.h"

#define TEXTS	80

struct listing {
	uint8_t code[2048];
	struct tsr_x86 x;
	const char *text[TEXTS];	/* what each instruction should read */
	unsigned int count;
};

static struct listing l;

static void begin(bool wide)
{
	memset(&l, 0, sizeof(l));
	l.x = (struct tsr_x86){ .start = l.code, .at = l.code, .end = l.code + sizeof(l.code),
				.wide = wide };
}

/* The next instruction is to read @text. */
static void expect(const char *text)
{
	l.text[l.count++] = text;
}

static bool have_objdump(void)
{
	return !system("objdump --version >/dev/null 2>&1");
}

/* Operands without blanks, one blank behind the mnemonic, no remark. */
static void tidy(char *text)
{
	char *out = text, *remark = strchr(text, '#');

	if (remark)
		*remark = '\0';
	for (const char *in = text; *in && *in != '\n'; in++) {
		if (*in == ' ' && (in[1] == ' ' || !in[1] || in[1] == '\n'))
			continue;
		*out++ = *in;
	}
	*out = '\0';
}

/* Disassemble and compare, line by line. */
static void compare(const char *name)
{
	char path[4096], command[5000], line[400];
	const char *dir = getenv("TSR_BUILD");
	unsigned int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/jit_x86.%s", dir ? dir : "/tmp", name);
	f = fopen(path, "wb");
	if (!f || fwrite(l.code, 1, l.x.at - l.code, f) != (size_t)(l.x.at - l.code) || fclose(f)) {
		ktap_fail("%s cannot be written", path);
		return;
	}
	snprintf(command, sizeof(command),
		 "objdump -D -w --no-show-raw-insn -b binary -m i386:x86-64 -M intel %s", path);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		char *text = strchr(line, '\t');

		if (!text)
			continue;
		tidy(++text);
		if (n >= l.count || strcmp(text, l.text[n]))
			ktap_fail("instruction %u is \"%s\", not \"%s\"", n, text,
				  n < l.count ? l.text[n] : "the end");
		n++;
	}
	ktap_eq(n, l.count);
	ktap_ok(f && !pclose(f));
	remove(path);
}

/* Instructions with the same operands in both forms. */
static void test_narrow(void)
{
	struct tsr_x86 *x = &l.x;

	begin(false);
	expect("vmovaps ymm1,YMMWORD PTR [rsi+0x200]");
	tsr_x86_vector(x, TSR_X86_MOV_LOAD, 1, 0, tsr_x86_at(TSR_RSI, 512), 0, false);
	expect("vmovaps YMMWORD PTR [rdi-0x20],ymm15");
	tsr_x86_vector(x, TSR_X86_MOV_STORE, 15, 0, tsr_x86_at(TSR_RDI, -32), 0, false);
	expect("vaddps ymm3,ymm4,ymm12");
	tsr_x86_vector(x, TSR_X86_ADD_F32, 3, 4, tsr_x86_reg(12), 0, false);
	expect("vsubps ymm9,ymm14,YMMWORD PTR [r12+0x40]");
	tsr_x86_vector(x, TSR_X86_SUB_F32, 9, 14, tsr_x86_at(TSR_R12, 64), 0, false);
	expect("vfmadd231ps ymm8,ymm7,YMMWORD PTR [r13+0x0]");
	tsr_x86_vector(x, TSR_X86_FMA231_F32, 8, 7, tsr_x86_at(TSR_R13, 0), 0, false);
	expect("vfnmsub213ps ymm2,ymm1,ymm0");
	tsr_x86_vector(x, TSR_X86_FMA213_F32 + 6, 2, 1, tsr_x86_reg(0), 0, false);
	expect("vpmulld ymm10,ymm11,ymm12");
	tsr_x86_vector(x, TSR_X86_MUL_I32, 10, 11, tsr_x86_reg(12), 0, false);
	expect("vpslld ymm5,ymm13,0x7");
	tsr_x86_shift(x, TSR_X86_SHL, 5, 13, 7);
	expect("vpsrad ymm12,ymm3,0x1f");
	tsr_x86_shift(x, TSR_X86_SAR, 12, 3, 31);
	expect("vpsrlvd ymm1,ymm2,ymm3");
	tsr_x86_vector(x, TSR_X86_SHR_VAR, 1, 2, tsr_x86_reg(3), 0, false);
	expect("vcmpunordps ymm0,ymm8,ymm9");
	tsr_x86_vector_imm(x, TSR_X86_CMP_F32, 0, 8, tsr_x86_reg(9), 0, TSR_X86_F_UNORDERED);
	expect("vblendvps ymm4,ymm5,YMMWORD PTR [r11+0x80],ymm6");
	tsr_x86_vector_imm(x, TSR_X86_BLEND_VAR, 4, 5, tsr_x86_at(TSR_R11, 128), 0, 6 << 4);
	expect("vroundps ymm7,ymm8,0xb");
	tsr_x86_vector_imm(x, TSR_X86_ROUND_F32, 7, 0, tsr_x86_reg(8), 0, 11);
	expect("vcvtps2dq ymm15,ymm14");
	tsr_x86_vector(x, TSR_X86_F32_TO_S32, 15, 0, tsr_x86_reg(14), 0, false);
	expect("vtestps ymm0,ymm0");
	tsr_x86_vector(x, TSR_X86_TEST_SIGNS, 0, 0, tsr_x86_reg(0), 0, false);
	expect("vmovmskps eax,ymm11");
	tsr_x86_mask_bits(x, TSR_RAX, 11);
	expect("vzeroupper");
	tsr_x86_vzeroupper(x);
	compare("narrow");
}

static void test_wide(void)
{
	struct tsr_x86 *x = &l.x;

	begin(true);
	expect("vmovaps zmm17,ZMMWORD PTR [rsi+0x200]");
	tsr_x86_vector(x, TSR_X86_MOV_LOAD, 17, 0, tsr_x86_at(TSR_RSI, 512), 0, false);
	expect("vmovaps ZMMWORD PTR [rdi+0x4000],zmm31");
	tsr_x86_vector(x, TSR_X86_MOV_STORE, 31, 0, tsr_x86_at(TSR_RDI, 0x4000), 0, false);
	expect("vmovaps zmm4{k3}{z},ZMMWORD PTR [r11-0x40]");
	tsr_x86_vector(x, TSR_X86_MOV_LOAD, 4, 0, tsr_x86_at(TSR_R11, -64), 3, true);
	expect("vaddps zmm3,zmm20,zmm28");
	tsr_x86_vector(x, TSR_X86_ADD_F32, 3, 20, tsr_x86_reg(28), 0, false);
	expect("vmulps zmm25,zmm9,zmm13");
	tsr_x86_vector(x, TSR_X86_MUL_F32, 25, 9, tsr_x86_reg(13), 0, false);
	expect("vsubps zmm9,zmm14,ZMMWORD PTR [r12+0x20]");
	tsr_x86_vector(x, TSR_X86_SUB_F32, 9, 14, tsr_x86_at(TSR_R12, 32), 0, false);
	expect("vfmadd132ps zmm30,zmm29,ZMMWORD PTR [r13+0x0]");
	tsr_x86_vector(x, TSR_X86_FMA132_F32, 30, 29, tsr_x86_at(TSR_R13, 0), 0, false);
	expect("vpaddd zmm18,zmm19,zmm7");
	tsr_x86_vector(x, TSR_X86_ADD_I32, 18, 19, tsr_x86_reg(7), 0, false);
	expect("vpsrld zmm21,zmm22,0x10");
	tsr_x86_shift(x, TSR_X86_SHR, 21, 22, 16);
	expect("vcmpordps k7{k7},zmm16,zmm17");
	tsr_x86_vector_imm(x, TSR_X86_CMP_F32, 7, 16, tsr_x86_reg(17), 7, TSR_X86_F_ORDERED);
	expect("vpcmpltud k2,zmm1,zmm18");
	tsr_x86_vector_imm(x, TSR_X86_CMP_U32, 2, 1, tsr_x86_reg(18), 0, TSR_X86_I_LT);
	expect("vpcmpnled k4,zmm1,ZMMWORD PTR [rdi+0x0]");
	tsr_x86_vector_imm(x, TSR_X86_CMP_S32, 4, 1, tsr_x86_at(TSR_RDI, 0), 0, TSR_X86_I_GT);
	expect("vptestmd k5,zmm6,zmm27");
	tsr_x86_vector(x, TSR_X86_TEST_I32, 5, 6, tsr_x86_reg(27), 0, false);
	expect("vptestnmd k5,zmm6,zmm27");
	tsr_x86_vector(x, TSR_X86_TEST_NOT_I32, 5, 6, tsr_x86_reg(27), 0, false);
	expect("vpblendmd zmm24{k1},zmm23,ZMMWORD PTR [rsi+0x40]");
	tsr_x86_vector(x, TSR_X86_BLEND_MASK, 24, 23, tsr_x86_at(TSR_RSI, 64), 1, false);
	expect("vcvtudq2ps zmm12,zmm26");
	tsr_x86_vector(x, TSR_X86_U32_TO_F32, 12, 0, tsr_x86_reg(26), 0, false);
	expect("vrndscaleps zmm12,zmm26,0x9");
	tsr_x86_vector_imm(x, TSR_X86_ROUND_F32, 12, 0, tsr_x86_reg(26), 0, 9);
	expect("kmovw k1,WORD PTR [rdx+0x2]");
	tsr_x86_mask_load(x, 1, TSR_RDX, 2);
	expect("kmovw eax,k6");
	tsr_x86_mask_bits(x, TSR_RAX, 6);
	expect("kmovw k1,r9d");
	tsr_x86_mask_set(x, 1, TSR_R9);
	expect("kortestw k7,k1");
	tsr_x86_mask_test(x, 7, 1);
	compare("wide");
}

static void memory_forms(struct tsr_x86 *x)
{
	expect("rex mov ecx,0x12345678");
	tsr_x86_mov_imm(x, TSR_RCX, 0x12345678);
	expect("movabs r11,0x123456789abcdef0");
	tsr_x86_mov_imm(x, TSR_R11, 0x123456789abcdef0);
	expect("mov rbx,rdi");
	tsr_x86_mov(x, TSR_RBX, TSR_RDI);
	expect("mov r15d,DWORD PTR [rbx+0x1000]");
	tsr_x86_load(x, 4, TSR_R15, TSR_RBX, 0x1000);
	expect("mov r12,QWORD PTR [rbx+0x8]");
	tsr_x86_load(x, 8, TSR_R12, TSR_RBX, 8);
	expect("movzx r8d,WORD PTR [rdx+0x4]");
	tsr_x86_load(x, 2, TSR_R8, TSR_RDX, 4);
	expect("mov BYTE PTR [rax+0x10],dil");
	tsr_x86_store(x, 1, TSR_RDI, TSR_RAX, 16);
	expect("mov WORD PTR [r8+0x0],ax");
	tsr_x86_store(x, 2, TSR_RAX, TSR_R8, 0);
	expect("mov QWORD PTR [rbx+0x80],rax");
	tsr_x86_store(x, 8, TSR_RAX, TSR_RBX, 128);
	expect("lea rdx,[r12+0x200]");
	tsr_x86_lea(x, TSR_RDX, TSR_R12, 512);
	expect("lea rsi,[r12+rax*1+0x0]");
	tsr_x86_lea_index(x, TSR_RSI, TSR_R12, TSR_RAX, 0);
	expect("lea r10,[rdx+r10*8+0x0]");
	tsr_x86_lea_index(x, TSR_R10, TSR_RDX, TSR_R10, 3);
	expect("cmp QWORD PTR [rbx+0x40],rax");
	tsr_x86_cmp_memory(x, TSR_RBX, 64, TSR_RAX);
	expect("rex test WORD PTR [rbx+0x40],0x180");
	tsr_x86_test_memory(x, TSR_RBX, 64, 0x180);
}

static void test_general(void)
{
	struct tsr_x86 *x = &l.x;
	uint8_t *forward, *back;

	begin(false);
	memory_forms(x);
	expect("add rsi,0x40");
	tsr_x86_alu_imm(x, TSR_X86_GADD, 8, TSR_RSI, 64);
	expect("rex xor eax,0xffff");
	tsr_x86_alu_imm(x, TSR_X86_GXOR, 4, TSR_RAX, 0xffff);
	expect("sub r15d,0x8");
	tsr_x86_alu_imm(x, TSR_X86_GSUB, 4, TSR_R15, 8);
	expect("cmp rsi,rdx");
	tsr_x86_alu(x, TSR_X86_GCMP, 8, TSR_RSI, TSR_RDX);
	expect("or r9d,eax");
	tsr_x86_alu(x, TSR_X86_GOR, 4, TSR_R9, TSR_RAX);
	expect("rex push rbp");
	tsr_x86_push(x, TSR_RBP);
	expect("pop r14");
	tsr_x86_pop(x, TSR_R14);
	back = x->at;
	expect("rex jmp QWORD PTR [rax+0x0]");
	tsr_x86_jump_memory(x, TSR_RAX);
	expect("rex jmp rsi");
	tsr_x86_jump_reg(x, TSR_RSI);
	expect("rex call rax");
	tsr_x86_call(x, TSR_RAX);
	forward = tsr_x86_jump(x, TSR_X86_BELOW_EQUAL);
	tsr_x86_jump_back(x, TSR_X86_NOT_EQUAL, back);
	tsr_x86_here(x, forward);
	expect("jbe 0x7f");
	expect("jne 0x69");
	expect("ret");
	tsr_x86_ret(x);
	expect("imul r9,rax");
	tsr_x86_multiply(x, TSR_R9, TSR_RAX);
	expect("popcnt eax,r9d");
	tsr_x86_count_bits(x, TSR_RAX, TSR_R9);
	expect("or WORD PTR [rbx+0x100],r9w");
	tsr_x86_or_memory(x, TSR_RBX, 256, TSR_R9);
	compare("general");
}

/* Code that does not fit is not written, and the overflow is reported. */
static void test_full(void)
{
	begin(true);
	l.x.end = l.code + 5;
	tsr_x86_vector(&l.x, TSR_X86_ADD_F32, 1, 2, tsr_x86_reg(3), 0, false);
	ktap_ok(l.x.full);
	ktap_eq(l.x.at - l.code, 5);
	ktap_eq(l.code[5], 0);
}

/* Run @test if there is something to compare with. */
static void (*compared)(void);

static void with_objdump(void)
{
	if (have_objdump())
		compared();
	else
		ktap_skip("there is no objdump");
}

static void run(const char *name, void (*test)(void))
{
	compared = test;
	ktap_run(name, with_objdump);
}

int main(void)
{
	ktap_start();
	run("vectors of 256 bits are encoded as binutils reads them", test_narrow);
	run("vectors of 512 bits are encoded as binutils reads them", test_wide);
	run("the other instructions are encoded as binutils reads them", test_general);
	ktap_run("instructions end with the buffer", test_full);
	return ktap_finish();
}
