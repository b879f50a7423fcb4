#include <time.h>
#include <immintrin.h>
#include "ktap.h"
#include "shade.h"
static double now(void){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec+t.tv_nsec*1e-9;}
__attribute__((target("avx2,fma"))) static double native(void){
 __m256 a[10];for(int i=0;i<10;i++)a[i]=_mm256_set1_ps(1.0f+i*1e-3f);__m256 b=_mm256_set1_ps(0.9999f),c=_mm256_set1_ps(1e-4f);
 double t=now();long n=20000000;for(long k=0;k<n;k++){for(int i=0;i<10;i++)a[i]=_mm256_fmadd_ps(a[i],b,c);__asm__ volatile(""::"x"(a[0]),"x"(a[1]));}
 t=now()-t;volatile float s=0;for(int i=0;i<10;i++)s+=_mm256_cvtss_f32(a[i]);return t/(n*10.0*8)*1e9;}
int main(int argc,char**argv){
 const char*simd=argc>1?argv[1]:NULL;int thr=argc>2?atoi(argv[2]):0;
 static struct shade_code code;
 static const char text[]=
 "clause {\n*MOV.i32 r0, #1.0\n*MOV.i32 r8, 0x3f7fff00\n*MOV.i32 r9, 0x38000000\n*MOV.i32 r10, 2000\n*MOV.i32 r1,r0\n*MOV.i32 r2,r0\n*MOV.i32 r3,r0\n}\n"
 "loop: clause flow=nbtb_unconditional {\n*FMA.f32 r0, r0, r8, r9\n*FMA.f32 r1, r1, r8, r9\n*FMA.f32 r2, r2, r8, r9\n*FMA.f32 r3, r3, r8, r9\n*FMA.f32 r4, r4, r8, r9\n*FMA.f32 r5, r5, r8, r9\n*FMA.f32 r6, r6, r8, r9\n*FMA.f32 r7, r7, r8, r9\n}\n"
 "clause flow=nbtb_unconditional {\n*FMA.f32 r0, r0, r8, r9\n*FMA.f32 r1, r1, r8, r9\n*FMA.f32 r2, r2, r8, r9\n*FMA.f32 r3, r3, r8, r9\n*FMA.f32 r4, r4, r8, r9\n*FMA.f32 r5, r5, r8, r9\n*FMA.f32 r6, r6, r8, r9\n*FMA.f32 r7, r7, r8, r9\n}\n"
 "clause flow=nbtb_unconditional {\n+IADD.s32 r10:t1, r10, -1\n+BRANCHZ.i32.ne t1, loop\n}\n"
 "clause message=store slot=0 " SHADE_STORE("r0");
 struct tsr_config cfg={.simd=simd,.threads=thr};
 struct shade_dispatch d={.code=&code,.state.local_x=256,.groups={64}};struct shade_machine m;
 shade_text(&code,text);
 for(int rep=0;rep<3;rep++){shade_init(&m,&cfg);m.s.b->real_clock=true;
 double t=now();bool ok=shade_run(&m,&d);t=now()-t;
 double li=256.0*64*2000*16;double n=native();
 printf("%s ok=%d %.4f ns/lane-fma  native %.4f  ratio %.1f%%  cycles %lu clauses %lu\n",simd?simd:"best",ok,t/li*1e9,n,n/(t/li*1e9)*100,(unsigned long)shade_counter(&m,TSR_QUEUE_COUNTER_CYCLES),(unsigned long)shade_counter(&m,TSR_QUEUE_COUNTER_SHADER_CLAUSES));
 shade_free(&m);}return 0;}
